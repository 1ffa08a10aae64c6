// The audit log: what is recorded is the rules' business, where it goes is the proxy's.
import { quoteForMessage } from '../bound-rule.js';
import { argument, type Directive } from './directive.js';
import { badValue, choice, ignored } from './values.js';
import { checkRegex } from '../regex-check.js';

const parts: Directive = {
  name: 'SecAuditLogParts',
  argsMin: 1,
  argsMax: 1,
  apply: (node, { settings }, context) => {
    const text = argument(node, 0).toUpperCase();
    if (/^[A-KZ]+$/.test(text)) settings.auditLogParts = text;
    else badValue(node, context, `SecAuditLogParts: ${quoteForMessage(text)} is not a list of the letters A to K and Z`);
  },
};
const relevantStatus: Directive = {
  name: 'SecAuditLogRelevantStatus',
  argsMin: 1,
  argsMax: 1,
  apply: (node, { settings }, context) => {
    const [pattern] = node.args;
    if (pattern !== undefined && checkRegex(pattern, context)) settings.auditLogRelevantStatus = pattern.text;
  },
};

const where = 'the place and the form of the audit log are settings of the proxy';
export const auditDirectives: readonly Directive[] = [
  choice('SecAuditEngine', ['On', 'Off', 'RelevantOnly'], (settings, value) => (settings.auditEngine = value)),
  parts,
  relevantStatus,
  ...['SecAuditLog', 'SecAuditLog2', 'SecAuditLogType', 'SecAuditLogFormat', 'SecAuditLogStorageDir', 'SecAuditLogDirMode', 'SecAuditLogFileMode', 'SecAuditLogPrefix'].map((name) => ignored(name, where)),
];
