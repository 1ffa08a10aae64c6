// Configuration → Program: updates and removals by id, tag and message, default actions, `block`, the phase lists.
import type { DisruptiveIR, EngineSettings, LinkIR, MarkerIR, Program, RuleIR } from '#engine/compile';
import { applyActions } from './actions/index.js';
import {
  createActionSet,
  type ActionSet,
  type BindContext,
  type BoundLink,
  type BoundMarker,
  quoteForMessage,
  type BoundRule,
} from './bound-rule.js';
import type { Configuration, RuleSelection } from './configuration.js';
import { isSameTarget } from './targets.js';

/** Applies everything that works on whole rules and numbers the items. */
export function assembleProgram(configuration: Configuration, context: BindContext): Program {
  updateActions(configuration, context);
  updateTargets(configuration, context);
  const kept = removeRules(configuration, context);
  checkSkips(kept, context);
  const items = kept.map((item, index): RuleIR | MarkerIR =>
    item.kind === 'marker' ? { kind: 'marker', index, name: item.name } : assembleRule(item, index, configuration),
  );
  const phases = [0, 1, 2, 3, 4, 5].map((phase) =>
    phase === 0 ? [] : items.filter((item) => item.kind === 'marker' || item.phase === phase).map((item) => item.index),
  );
  const settings: EngineSettings = configuration.settings;
  return { version: 1, settings, items, phases, files: context.sources.files.map((file) => file.name) };
}

function isInRanges(id: number, ranges: readonly (readonly [number, number])[]): boolean {
  return ranges.some(([from, to]) => id >= from && id <= to);
}

/** Whether a link has the tag or message. */
function isNamed({ set }: BoundLink, selection: Exclude<RuleSelection, { kind: 'id' }>): boolean {
  return selection.kind === 'tag'
    ? set.tags.some(selection.matches)
    : set.msg !== null && selection.matches(set.msg.text);
}

/** By id, or by the tags or message of the head: a chain is removed as one rule. */
function isSelected(rule: BoundRule, selection: RuleSelection): boolean {
  return selection.kind === 'id' ? isInRanges(rule.id, selection.ranges) : isNamed(rule.links[0], selection);
}

function describe(selection: RuleSelection): string {
  if (selection.kind !== 'id') return `${selection.kind} ${quoteForMessage(selection.pattern)}`;
  return `id ${selection.ranges.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(', ')}`.slice(
    0,
    80,
  );
}

function rulesOf(configuration: Configuration): BoundRule[] {
  return configuration.items.filter((item): item is BoundRule => item.kind === 'rule');
}

function updateActions(configuration: Configuration, context: BindContext): void {
  for (const update of configuration.actionUpdates) {
    const rules = rulesOf(configuration).filter((rule) => isInRanges(rule.id, update.ids));
    if (rules.length === 0) context.report('GH-C2010', 'no rule has this id', update.at);
    const allows = (name: string, group: string, node: Parameters<typeof context.report>[2]): boolean => {
      if (group !== 'identity' && name !== 'chain') return true;
      context.report('GH-C4002', `"${name}" of a rule cannot be changed`, node);
      return false;
    };
    const fresh = createActionSet();
    if (!applyActions(update.actions, fresh, context, allows)) continue;
    for (const rule of rules) {
      const link = rule.links[update.link];
      if (link === undefined) context.report('GH-C2012', `rule ${rule.id} has no link ${update.link}`, update.at);
      else mergeActions(link.set, fresh);
    }
  }
}

/** What `from` says replaces or extends what `into` says, as if it stood behind it. */
function mergeActions(into: ActionSet, from: ActionSet): void {
  into.disruptive = from.disruptive ?? into.disruptive;
  into.status = from.status ?? into.status;
  into.log = from.log ?? into.log;
  into.auditlog = from.auditlog ?? into.auditlog;
  into.severity = from.severity ?? into.severity;
  into.ver = from.ver ?? into.ver;
  into.rev = from.rev ?? into.rev;
  into.maturity = from.maturity ?? into.maturity;
  into.accuracy = from.accuracy ?? into.accuracy;
  into.msg = from.msg ?? into.msg;
  into.logdata = from.logdata ?? into.logdata;
  into.skipAfter = from.skipAfter ?? into.skipAfter;
  if (from.skip > 0) into.skip = from.skip;
  into.multiMatch ||= from.multiMatch;
  into.capture ||= from.capture;
  into.tags.push(...from.tags);
  into.xmlns.push(...from.xmlns);
  into.transformations.push(...from.transformations);
  into.actions.push(...from.actions);
}

/** As in ModSecurity v3: by id the first link changes, by tag or message every link that has it. */
function selectLinks(rule: BoundRule, selection: RuleSelection): readonly BoundLink[] {
  if (selection.kind === 'id') return isSelected(rule, selection) ? [rule.links[0]] : [];
  return rule.links.filter((link) => isNamed(link, selection));
}

function updateTargets(configuration: Configuration, context: BindContext): void {
  for (const update of configuration.targetUpdates) {
    const links = rulesOf(configuration).flatMap((rule) => selectLinks(rule, update.selection));
    if (links.length === 0) context.report('GH-C2010', `no rule has ${describe(update.selection)}`, update.at);
    for (const link of links) {
      if (link.operator === null) continue; // SecAction has no targets
      const remaining = link.targets.filter(
        (target) => !update.replaced.some((replaced) => isSameTarget(replaced, target)),
      );
      link.targets.splice(0, link.targets.length, ...remaining, ...update.additions);
      link.exclusions.push(...update.exclusions);
    }
  }
}

function removeRules(configuration: Configuration, context: BindContext): (BoundRule | BoundMarker)[] {
  const removed = new Set<BoundRule>();
  for (const removal of configuration.removals) {
    const rules = rulesOf(configuration).filter((rule) => isSelected(rule, removal.selection));
    if (rules.length === 0) context.report('GH-C2010', `no rule has ${describe(removal.selection)}`, removal.at);
    for (const rule of rules) removed.add(rule);
  }
  return configuration.items.filter((item) => item.kind === 'marker' || !removed.has(item));
}

/** skipAfter must find its marker, or everything behind the rule is skipped. */
function checkSkips(items: readonly (BoundRule | BoundMarker)[], context: BindContext): void {
  const known = new Set<string>();
  for (let index = items.length - 1; index >= 0; index -= 1) {
    const item = items[index] as BoundRule | BoundMarker;
    if (item.kind === 'marker') known.add(item.name);
    else {
      const target = item.links[0].set.skipAfter;
      if (target !== null && !known.has(target))
        context.report(
          'GH-C2009',
          `there is no marker ${quoteForMessage(target)} behind rule ${item.id}`,
          item.links[0],
        );
      known.add(String(item.id));
    }
  }
}

function assembleRule(rule: BoundRule, index: number, configuration: Configuration): RuleIR {
  const defaults = configuration.defaults.get(rule.phase) ?? createActionSet();
  const [head] = rule.links;
  const { set } = head;
  // A later link's word counts only where neither the head nor the default says anything.
  const log = set.log ?? defaults.log ?? firstOf(rule, (one) => one.log) ?? true;
  return {
    kind: 'rule',
    index,
    id: rule.id,
    phase: rule.phase,
    links: rule.links.map((link, position) => assembleLink(link, position === 0, defaults)),
    disruptive: resolveDisruptive(
      set,
      firstOf(rule, (one) => one.status),
      defaults,
    ),
    log,
    auditlog: set.auditlog ?? defaults.auditlog ?? log,
    severity: firstOf(rule, (one) => one.severity),
    ...chainSeverity(rule),
    tags: [...defaults.tags, ...set.tags],
    ver: set.ver,
    rev: set.rev,
    maturity: set.maturity,
    accuracy: set.accuracy,
    skip: set.skip,
    skipAfter: set.skipAfter,
    xmlns: rule.links.flatMap((link) => link.set.xmlns),
  };
}

/** Every link of a matched chain counts for HIGHEST_SEVERITY (libmodsecurity 3.0.9), the first one's is logged. */
function chainSeverity(rule: BoundRule): Pick<RuleIR, 'chainSeverity'> {
  const severities = rule.links.map(({ set }) => set.severity).filter((one) => one !== null);
  const highest = Math.min(...severities);
  return severities.length > 0 && highest !== severities[0] ? { chainSeverity: highest } : {};
}

/** The head's value, or that of the first link that has one. */
function firstOf<T>(rule: BoundRule, pick: (set: ActionSet) => T | null): T | null {
  for (const link of rule.links) {
    const value = pick(link.set);
    if (value !== null) return value;
  }
  return null;
}

function assembleLink(link: BoundLink, isHead: boolean, defaults: ActionSet): LinkIR {
  return {
    targets: link.targets,
    exclusions: link.exclusions,
    operator: link.operator,
    transformations: resolveTransformations(defaults.transformations, link.set.transformations),
    multiMatch: link.set.multiMatch,
    capture: link.set.capture,
    actions: isHead ? [...defaults.actions, ...link.set.actions] : link.set.actions,
    msg: link.set.msg?.template ?? null,
    logdata: link.set.logdata,
    file: link.file,
    line: link.line,
  };
}

/** `t:none` drops what stands before it, the defaults included. */
function resolveTransformations(defaults: readonly string[], own: readonly string[]): string[] {
  const all = [...defaults, ...own];
  return all.slice(all.lastIndexOf('none') + 1);
}

/**
 * `block` becomes the default of the phase, and nothing (pass) where there is none; a rule without a disruptive action
 * passes, as in ModSecurity v3. `ownStatus` is the chain's: a later link may name it; the default's status holds for
 * rules that name none.
 */
function resolveDisruptive(set: ActionSet, ownStatus: number | null, defaults: ActionSet): DisruptiveIR {
  const choice = set.disruptive?.kind === 'block' ? defaults.disruptive : set.disruptive;
  const status = ownStatus ?? defaults.status;
  if (choice === null || choice.kind === 'block' || choice.kind === 'pass') return { kind: 'pass' };
  if (choice.kind === 'allow') return { kind: 'allow', scope: choice.scope };
  if (choice.kind === 'redirect')
    return {
      kind: 'redirect',
      status: status !== null && status >= 301 && status <= 308 ? status : 302,
      url: choice.url,
    };
  return { kind: choice.kind, status: status ?? 403 };
}
