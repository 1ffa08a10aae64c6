// Program → text for people and golden files. Only what differs from the default is printed, one thing a line.
import {
  defaultEngineSettings,
  type ActionIR,
  type ControlIR,
  type DisruptiveIR,
  type EngineSettings,
  type GroupIR,
  type LinkIR,
  type OperatorIR,
  type PlanIR,
  type Program,
  type RuleIR,
  type TargetIR,
} from '#engine/compile';
import { printTemplate } from '../program/template.js';

export function dumpProgram(program: Program): string {
  const lines = dumpSettings(program.settings);
  for (const item of program.items) {
    if (item.kind === 'marker') lines.push(`marker ${quote(item.name)}`);
    else lines.push(...dumpRule(item, program));
  }
  return `${lines.join('\n')}\n`;
}

/** JSON quoting shows every byte of a latin1 string unambiguously. */
function quote(text: string): string {
  return JSON.stringify(text).replace(/[\x7f-\xff]/g, (char) => `\\u00${char.charCodeAt(0).toString(16)}`);
}

function dumpSettings(settings: EngineSettings): string[] {
  const lines: string[] = [];
  for (const [name, value] of Object.entries(settings)) {
    const initial = defaultEngineSettings[name as keyof EngineSettings];
    if (JSON.stringify(value) === JSON.stringify(initial)) continue;
    const shown =
      name === 'unicodeMap' && Array.isArray(value) ? `${value.length / 2} code points` : JSON.stringify(value);
    lines.push(`setting ${name} = ${shown}`);
  }
  return lines;
}

function dumpRule(rule: RuleIR, program: Program): string[] {
  const [head] = rule.links;
  const place = head === undefined ? '' : ` (${program.files[head.file] ?? '?'}:${head.line})`;
  const lines = [`rule ${rule.id} phase ${rule.phase} ${dumpDisruptive(rule.disruptive)}${place}`];
  const facts: string[] = [];
  if (!rule.log) facts.push('nolog');
  if (rule.auditlog !== rule.log) facts.push(rule.auditlog ? 'auditlog' : 'noauditlog');
  if (rule.severity !== null) facts.push(`severity ${rule.severity}`);
  if (rule.ver !== null) facts.push(`ver ${quote(rule.ver)}`);
  if (rule.rev !== null) facts.push(`rev ${quote(rule.rev)}`);
  if (rule.maturity !== null) facts.push(`maturity ${rule.maturity}`);
  if (rule.accuracy !== null) facts.push(`accuracy ${rule.accuracy}`);
  if (rule.skip > 0) facts.push(`skip ${rule.skip}`);
  if (rule.skipAfter !== null) facts.push(`skipAfter ${quote(rule.skipAfter)}`);
  if (facts.length > 0) lines.push(`  ${facts.join(', ')}`);
  if (rule.tags.length > 0) lines.push(`  tags ${rule.tags.map(quote).join(' ')}`);
  for (const [prefix, address] of rule.xmlns) lines.push(`  xmlns ${prefix}=${quote(address)}`);
  for (const [position, link] of rule.links.entries()) lines.push(...dumpLink(link, position));
  return lines;
}

function dumpDisruptive(action: DisruptiveIR): string {
  switch (action.kind) {
    case 'pass':
      return 'pass';
    case 'allow':
      return `allow ${action.scope}`;
    case 'redirect':
      return `redirect ${action.status} ${quote(printTemplate(action.url))}`;
    default:
      return `${action.kind} ${action.status}`;
  }
}

function dumpLink(link: LinkIR, position: number): string[] {
  const indent = position === 0 ? '  ' : '    ';
  const targets = [
    ...link.targets.map((target) => dumpTarget(target)),
    ...link.exclusions.map((target) => `!${dumpTarget(target)}`),
  ];
  const condition = link.operator === null ? 'always' : `${targets.join(' | ')} ${dumpOperator(link.operator)}`;
  const lines = [`${position === 0 ? '  if' : '  and if'} ${condition}`];
  const how = [
    ...link.transformations.map((name) => `t:${name}`),
    ...(link.multiMatch ? ['multiMatch'] : []),
    ...(link.capture ? ['capture'] : []),
  ];
  if (how.length > 0) lines.push(`${indent}  ${how.join(' ')}`);
  if (link.msg !== null) lines.push(`${indent}  msg ${quote(printTemplate(link.msg))}`);
  if (link.logdata !== null) lines.push(`${indent}  logdata ${quote(printTemplate(link.logdata))}`);
  for (const action of link.actions) lines.push(`${indent}  do ${dumpAction(action)}`);
  return lines;
}

function dumpTarget(target: TargetIR): string {
  const { selector } = target;
  const member =
    selector === null
      ? ''
      : selector.kind === 'name'
        ? `:${selector.name}`
        : selector.kind === 'regex'
          ? `:/${selector.source}/`
          : `:xpath(${selector.expression})`;
  return `${target.count ? '&' : ''}${target.variable}${member}`;
}

function dumpOperator(operator: OperatorIR): string {
  const macro = operator.template === null ? '' : ' with macros';
  const phrases = operator.phrases === null ? '' : ` [${operator.phrases.map(quote).join(' ')}]`;
  return `${operator.negated ? '!' : ''}@${operator.name} ${quote(operator.argument)}${macro}${phrases}`;
}

function dumpAction(action: ActionIR): string {
  switch (action.kind) {
    case 'setvar': {
      const name = `${action.collection}.${printTemplate(action.key)}`;
      const signs = { set: '=', add: '+=', subtract: '-=', unset: '' } as const;
      return action.operation === 'unset'
        ? `unset ${name}`
        : `${name} ${signs[action.operation]} ${quote(printTemplate(action.value))}`;
    }
    case 'expirevar':
      return `expire ${action.collection}.${printTemplate(action.key)} after ${printTemplate(action.seconds)}`;
    case 'deprecatevar': {
      const name = `${action.collection}.${printTemplate(action.key)}`;
      return `deprecate ${name} by ${action.amount} every ${action.everySeconds}`;
    }
    case 'initcol':
      return `initcol ${action.collection} ${quote(printTemplate(action.key))}`;
    case 'setenv':
      return `setenv ${action.name} ${quote(printTemplate(action.value))}`;
    case 'ctl':
      return `ctl ${dumpControl(action.control)}`;
    default:
      return `${action.kind} ${quote(printTemplate(action.value))}`;
  }
}

function dumpControl(control: ControlIR): string {
  const ranges = (list: readonly (readonly [number, number])[]): string =>
    list.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(',');
  switch (control.kind) {
    case 'auditLogParts':
      return `auditLogParts ${control.operation} ${control.parts}`;
    case 'ruleRemoveById':
      return `ruleRemoveById ${ranges(control.ranges)}`;
    case 'ruleRemoveByTag':
    case 'ruleRemoveByMsg':
      return `${control.kind} ${quote(control.pattern)}`;
    case 'ruleRemoveTargetById':
      return `ruleRemoveTargetById ${ranges(control.ranges)} ${dumpTarget(control.target)}`;
    case 'ruleRemoveTargetByTag':
    case 'ruleRemoveTargetByMsg':
      return `${control.kind} ${quote(control.pattern)} ${dumpTarget(control.target)}`;
    default:
      return `${control.kind} ${String(control.value)}`;
  }
}

/** How the compiled engine finds the rules worth running: what is gone, what is asked where, what is visited always. */
export function dumpPlan(program: Program, plan: PlanIR): string {
  const lines = plan.initialTx.map(([name, value]) => `constant TX.${name} = ${quote(value)}`);
  const idOf = (item: number): string => {
    const found = program.items[item];
    return found?.kind === 'rule' ? String(found.id) : '?';
  };
  const active = new Set(plan.active.flat());
  const gone = program.items
    .filter((item) => item.kind === 'rule' && !active.has(item.index))
    .map(({ index }) => idOf(index));
  if (gone.length > 0) lines.push(`gone ${gone.join(' ')}`);
  if (plan.certain.length > 0) lines.push(`certain ${plan.certain.map(idOf).join(' ')}`);
  for (const [item, link, argument] of plan.constantArguments)
    lines.push(`argument of ${idOf(item)}/${link} = ${quote(argument)}`);
  const isScanned = (item: number): boolean => plan.linkAtoms[item]?.some((atoms) => atoms !== null) === true;
  for (const [phase, items] of plan.active.entries()) {
    const visited = items.filter((item) => !isScanned(item));
    if (items.length > 0)
      lines.push(
        `phase ${phase}: ${items.length} rules, visited in every transaction: ${visited.map(idOf).join(' ') || 'none'}`,
      );
  }
  for (const [index, atom] of plan.atoms.entries()) {
    const item = program.items[atom.item];
    const operator = item?.kind === 'rule' ? item.links[atom.link]?.operator : null;
    const place = `${idOf(atom.item)}/${atom.link}`;
    if (operator != null)
      lines.push(`atom ${index} of ${place}: ${dumpOperator(operator)} on ${dumpPipeline(plan, atom.pipeline)}`);
  }
  for (const scanClass of plan.classes) {
    lines.push(`class ${scanClass.sources.join(' ')}`);
    for (const [name, group] of [
      ['union', scanClass.union] as const,
      ...scanClass.groups.map((one) => [dumpPipeline(plan, one.pipeline), one] as const),
    ])
      if (group.database !== -1) lines.push(`  ${name}: ${dumpGroup(plan, group)}`);
    for (const { transformation, group } of scanClass.families)
      lines.push(`  texts of t:${transformation} only: ${dumpGroup(plan, group)}`);
    for (const set of scanClass.sets)
      lines.push(`  RE2 set on ${dumpPipeline(plan, set.pipeline)}: atoms ${set.atoms.join(' ')}`);
    for (const { atom, pipeline, neededBytes } of scanClass.called) {
      const condition = neededBytes === null ? '' : `, where one of ${neededBytes.length} bytes occurs`;
      lines.push(`  called on ${dumpPipeline(plan, pipeline)}: atom ${atom}${condition}`);
    }
  }
  return `${lines.join('\n')}\n`;
}

function dumpPipeline(plan: PlanIR, pipeline: number): string {
  return plan.pipelines[pipeline]?.map((name) => `t:${name}`).join(' ') || 'the value itself';
}

function dumpGroup(plan: PlanIR, group: GroupIR): string {
  const size = (database: number): string =>
    database === -1 ? 'nothing' : `${plan.databases[database]?.patterns.length ?? 0} patterns`;
  const narrower = group.byAlphabet.map((database, alphabet) => ` alphabet ${alphabet}: ${size(database)};`).join('');
  return `${size(group.database)};${narrower}`.replace(/;$/, '');
}
