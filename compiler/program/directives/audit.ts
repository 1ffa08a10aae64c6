// The audit log: what is recorded is the rules' business, where it goes is the proxy's.
import { quoteForMessage } from '../bound-rule.js';
import { argument, type Directive } from './directive.js';
import { badValue, choice, ignored } from './values.js';
import { checkRegex, isLinear } from '../regex-check.js';

/**
 * There are only 500 statuses: an expression that cannot run in linear time (a back-reference, say; the `4(?!04)` of
 * the recommended configuration can, since look-aheads are rewritten) becomes the list of those it matches. null when
 * it is no expression at all.
 */
function listStatuses(source: string): string | null {
  let expression: RegExp;
  try {
    expression = new RegExp(source);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return null;
  }
  const statuses: number[] = [];
  for (let status = 100; status <= 599; status += 1) if (expression.test(String(status))) statuses.push(status);
  return `^(?:${statuses.join('|')})$`;
}

const parts: Directive = {
  name: 'SecAuditLogParts',
  argsMin: 1,
  argsMax: 1,
  apply: (node, { settings }, context) => {
    const text = argument(node, 0).toUpperCase();
    if (/^[A-KZ]+$/.test(text)) settings.auditLogParts = text;
    else
      badValue(node, context, `SecAuditLogParts: ${quoteForMessage(text)} is not a list of the letters A to K and Z`);
  },
};
const relevantStatus: Directive = {
  name: 'SecAuditLogRelevantStatus',
  argsMin: 1,
  argsMax: 1,
  apply: (node, { settings }, context) => {
    const [pattern] = node.args;
    if (pattern === undefined) return;
    const listed = isLinear(pattern.text) ? pattern.text : listStatuses(pattern.text);
    if (listed !== null) settings.auditLogRelevantStatus = listed;
    else checkRegex(pattern, context);
  },
};

const where = 'the place and the form of the audit log are settings of the proxy';
export const auditDirectives: readonly Directive[] = [
  choice('SecAuditEngine', ['On', 'Off', 'RelevantOnly'], (settings, value) => (settings.auditEngine = value)),
  parts,
  relevantStatus,
  ...[
    'SecAuditLog',
    'SecAuditLog2',
    'SecAuditLogType',
    'SecAuditLogFormat',
    'SecAuditLogStorageDir',
    'SecAuditLogDirMode',
    'SecAuditLogFileMode',
    'SecAuditLogPrefix',
  ].map((name) => ignored(name, where)),
];
