// What a run of SARIF says of its own course (2.1.0, 3.20): whether the tool came to its end, and what it could
// not read.
// `executionSuccessful` alone does not tell: writers set it where files were skipped.
import { canonicalName } from '../kinds/tools.js';
import { at, list, num, obj, reportPath, str, type Json } from '../normalize.js';
import { fault, type Dropped } from '../record.js';

/** One report names no more of them; that one is there is enough for it not to be complete. */
const notificationsMax = 200;

/** Exit codes by which a tool says that it has found something; 0 and 1 are in all of them. */
const foundSomething: Readonly<Record<string, readonly number[]>> = {
  Grype: [2],
  TruffleHog: [183],
  safety: [64],
  KICS: [20, 30, 40, 50, 60],
  terrascan: [3],
  tflint: [2, 3],
  Brakeman: [3],
  prowler: [3],
  detekt: [2],
  stylelint: [2],
  swiftlint: [2],
  Psalm: [2],
  PHP_CodeSniffer: [2],
  PHPMD: [2],
  PMD: [4, 5],
  ZAP: [2],
  'ansible-lint': [2],
  ESLint: [],
};
/** Bits of Pylint: 1 a fatal message, 32 an error of usage; the others are kinds of messages. */
const pylintFaults = 33;
/** 128 and the number of a signal: the process was ended from outside. */
const isSignal = (code: number): boolean => code > 128 && code < 160;

function isFailedExit(code: number, tool: string): boolean {
  const name = canonicalName(tool);
  if (name === 'Pylint') return (code & pylintFaults) !== 0;
  return code !== 0 && code !== 1 && !(foundSomething[name] ?? []).includes(code);
}

/** Why the process did not come to its end; '': it did. */
function endOf(one: Json, tool: string): string {
  const signal =
    str(one['exitSignalName']) || (num(one['exitSignalNumber']) === null ? '' : str(one['exitSignalNumber']));
  const start = str(one['processStartFailureMessage']);
  const code = num(one['exitCode']);
  const said = str(one['exitCodeDescription']);
  const isSuccess = one['executionSuccessful'];
  if (start !== '') return `did not start: ${start}`;
  if (signal !== '' && signal !== '0') return `was ended by the signal ${signal}`;
  if (isSuccess !== undefined && isSuccess !== null && isSuccess !== true)
    return `did not succeed${code === null ? '' : `, with exit code ${code}`}${said === '' ? '' : `: ${said}`}`;
  if (code !== null && (isSignal(code) || (isSuccess !== true && isFailedExit(code, tool))))
    return `ended with exit code ${code}${said === '' ? '' : `: ${said}`}`;
  return '';
}

/** Of the notification, else of its descriptor; without either it is a warning (3.58.6, 3.49.14). */
function levelOf(notification: Json, run: Json): string {
  const level = str(notification['level']);
  if (level !== '') return level.toLowerCase();
  const reference = obj(notification['descriptor']);
  const id = str(reference['id']);
  const components = [at(run, 'tool', 'driver'), ...list(at(run, 'tool', 'extensions'))];
  const all = components.flatMap((one) => list(obj(one)['notifications']).map(obj));
  const found =
    (id === '' ? undefined : all.find((one) => str(one['id']) === id)) ?? all[num(reference['index']) ?? -1];
  return (str(at(found, 'defaultConfiguration', 'level')) || 'warning').toLowerCase();
}

/** Names of notifications about files that were not read; of them a warning is enough. */
const unreadFile = new RegExp(
  'extraction[-_ ]?(?:error|failure)|(?:parse|parsing|syntax|lexical|tokeni[sz]\\w*|analysis|load|t' +
    'imeout|out ?of ?memory)[-_ ]?(?:error|failure|exception)|^(?:parseerror|syntaxerror|timeout|outo' +
    'fmemory)$',
  'i',
);

function toFault(notification: Json, run: Json): Dropped | null {
  const level = levelOf(notification, run);
  const name = str(at(notification, 'descriptor', 'id')) || str(at(notification, 'descriptor', 'name'));
  // what the tool did not catch, it did not do, whatever level it left out
  const isThrown = notification['exception'] !== undefined && str(notification['level']) === '';
  const isUnread = level === 'warning' && (unreadFile.test(name) || isThrown);
  const isError = !['none', 'note', 'warning'].includes(level) || isUnread;
  if (!isError) return null;
  const [place] = list(notification['locations']);
  const file = reportPath(at(place, 'physicalLocation', 'artifactLocation', 'uri'));
  const message = str(at(notification, 'message', 'text')) || str(at(notification, 'exception', 'message'));
  return fault([file, name === '' ? '' : `(${name})`, message].filter(Boolean).join(' ') || 'an error without a text');
}

/** What the invocations of a run say that was not done; empty: all of them came to their end and read everything. */
export function faultsOf(run: Json, tool: string): readonly Dropped[] {
  const found: Dropped[] = [];
  for (const one of list(run['invocations']).map(obj)) {
    const end = endOf(one, tool);
    if (end !== '') found.push(fault(`${tool} ${end}`));
    for (const kind of ['toolExecutionNotifications', 'toolConfigurationNotifications'])
      for (const notification of list(one[kind]).map(obj)) {
        if (found.length >= notificationsMax) return found;
        const made = toFault(notification, run);
        if (made !== null) found.push(made);
      }
  }
  return found;
}

/**
 * Parts of the report that lie in other files, or in `inlineExternalProperties` (3.14.2, 3.15): they are not read.
 * Without results nothing is proved, and without rules or artifacts nobody knows how grave and where.
 */
export function elsewhere(report: Json): readonly Dropped[] {
  const found = list(report['runs']).flatMap((run, index) =>
    Object.entries(obj(at(run, 'externalPropertyFileReferences'))).flatMap(([name, references]) =>
      (Array.isArray(references) ? references.length > 0 : Object.keys(obj(references)).length > 0)
        ? [fault(`/runs/${index}: its ${name} lie outside of the run: write the report with all in one file`)]
        : [],
    ),
  );
  const inline = list(report['inlineExternalProperties']).length;
  if (inline > 0) found.push(fault(`/inlineExternalProperties: ${inline} parts of runs, which are not read there`));
  return found.slice(0, notificationsMax);
}
