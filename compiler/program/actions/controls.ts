// ctl: what a rule may change for the rest of its transaction.
import type { ControlIR, TargetIR } from '#engine/compile';
import type { ActionNode } from '../../tree/ast.js';
import { parseDecimal, parseIdRanges, quoteForMessage, type ActionSet, type BindContext } from '../bound-rule.js';
import { sliceFragment, trimFragment, type Fragment } from '../../text/fragment.js';
import { parseTargets } from '../../tree/parse-targets.js';
import { bindTarget } from '../targets.js';

type ControlParser = (value: Fragment, context: BindContext) => readonly ControlIR[] | string;

function parseSwitch(text: string): boolean | null {
  const lower = text.toLowerCase();
  return lower === 'on' ? true : lower === 'off' ? false : null;
}

function onOff(
  kind: 'requestBodyAccess' | 'responseBodyAccess' | 'forceRequestBodyVariable' | 'parseXmlIntoArgs',
): ControlParser {
  return ({ text }) => {
    const value = parseSwitch(text);
    return value === null ? `${quoteForMessage(text)} is neither On nor Off` : [{ kind, value }];
  };
}

function bytes(kind: 'requestBodyLimit' | 'responseBodyLimit' | 'debugLogLevel'): ControlParser {
  return ({ text }) => {
    const value = parseDecimal(text, 0, 2 ** 40);
    return value === null ? `${quoteForMessage(text)} is not a number` : [{ kind, value }];
  };
}

function oneOf<T extends string>(choices: readonly T[], make: (value: T) => ControlIR): ControlParser {
  return ({ text }) => {
    const value = choices.find((choice) => choice.toLowerCase() === text.toLowerCase());
    return value === undefined ? `${quoteForMessage(text)} is not one of ${choices.join(', ')}` : [make(value)];
  };
}

/** `selection;target[|target…]` */
function removeTarget(make: (selection: string, target: TargetIR) => ControlIR | string): ControlParser {
  return (value, context) => {
    const semicolon = value.text.indexOf(';');
    if (semicolon === -1) return 'write it as selection;TARGET';
    const selection = value.text.slice(0, semicolon).trim();
    if (selection === '') return 'names no rules in front of the ";"';
    const nodes = parseTargets(
      sliceFragment(value, semicolon + 1),
      context.file(value.file),
      context.diagnostics,
      false,
    );
    if (nodes === null) return [];
    const controls: ControlIR[] = [];
    for (const node of nodes) {
      const target = bindTarget(node, context);
      if (target === null) continue;
      const control = make(selection, target);
      if (typeof control === 'string') return control;
      controls.push(control);
    }
    return controls;
  };
}

const controls: ReadonlyMap<string, ControlParser> = new Map<string, ControlParser>([
  ['ruleengine', oneOf(['On', 'Off', 'DetectionOnly'], (value) => ({ kind: 'ruleEngine', value }))],
  ['auditengine', oneOf(['On', 'Off', 'RelevantOnly'], (value) => ({ kind: 'auditEngine', value }))],
  [
    'auditlogparts',
    ({ text }) => {
      const match = /^([+-]?)([A-Za-z]+)$/.exec(text);
      if (match === null) return `${quoteForMessage(text)} is not a list of parts such as +E`;
      const operation = match[1] === '+' ? 'add' : match[1] === '-' ? 'remove' : 'set';
      return [{ kind: 'auditLogParts', operation, parts: (match[2] as string).toUpperCase() }];
    },
  ],
  ['requestbodyaccess', onOff('requestBodyAccess')],
  ['responsebodyaccess', onOff('responseBodyAccess')],
  ['forcerequestbodyvariable', onOff('forceRequestBodyVariable')],
  ['parsexmlintoargs', onOff('parseXmlIntoArgs')],
  [
    'requestbodyprocessor',
    oneOf(['URLENCODED', 'MULTIPART', 'JSON', 'XML', 'TEXT', 'RAW'], (value) => ({
      kind: 'requestBodyProcessor',
      value,
    })),
  ],
  ['requestbodylimit', bytes('requestBodyLimit')],
  ['responsebodylimit', bytes('responseBodyLimit')],
  ['debugloglevel', bytes('debugLogLevel')],
  [
    'ruleremovebyid',
    ({ text }) => {
      const ranges = parseIdRanges(text);
      return ranges === null
        ? `${quoteForMessage(text)} is not a list of ids and ranges`
        : [{ kind: 'ruleRemoveById', ranges }];
    },
  ],
  ['ruleremovebytag', ({ text }) => [{ kind: 'ruleRemoveByTag', pattern: text }]],
  ['ruleremovebymsg', ({ text }) => [{ kind: 'ruleRemoveByMsg', pattern: text }]],
  [
    'ruleremovetargetbyid',
    removeTarget((selection, target) => {
      const ranges = parseIdRanges(selection);
      return ranges === null
        ? `${quoteForMessage(selection)} is not a list of ids and ranges`
        : { kind: 'ruleRemoveTargetById', ranges, target };
    }),
  ],
  ['ruleremovetargetbytag', removeTarget((pattern, target) => ({ kind: 'ruleRemoveTargetByTag', pattern, target }))],
  ['ruleremovetargetbymsg', removeTarget((pattern, target) => ({ kind: 'ruleRemoveTargetByMsg', pattern, target }))],
]);

/** Binds `ctl:name=value` into the set; returns what is wrong, or null. */
export function bindControl(node: ActionNode, value: string, set: ActionSet, context: BindContext): string | null {
  const equals = value.indexOf('=');
  if (equals === -1 || node.value === null) return 'write it as ctl:option=value';
  const name = value.slice(0, equals).trim();
  const parser = controls.get(name.toLowerCase());
  if (parser === undefined) {
    context.report('GH-C4006', `there is no ctl option ${quoteForMessage(name)}`, node.value);
    return null;
  }
  const argument = trimFragment(sliceFragment(node.value, equals + 1));
  if (argument.text === '') return `ctl:${name} needs a value`;
  const unquoted = /^'([^]*)'$/.test(argument.text) ? sliceFragment(argument, 1, argument.text.length - 1) : argument;
  const bound = parser(unquoted, context);
  if (typeof bound === 'string') return `${name}: ${bound}`;
  for (const control of bound) set.actions.push({ kind: 'ctl', control });
  return null;
}
