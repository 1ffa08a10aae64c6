// A template before the rules: what is wrong in every way in which its conditions can fall out.
import { failed, leftOut, nothing, together, type Finding, type Outcome } from '../../contract.js';
import type { Lines } from '../../lines.js';
import { findingsOf } from '../findings.js';
import { Module } from '../terraform/resources.js';
import { terraformRules } from '../terraform/rules.js';
import { blocksIn } from './blocks.js';
import { setAside } from './set-aside.js';
import { worldsOf, type Outcomes } from './known.js';
import { Unreadable } from './node.js';
import { saysTemplate, Template } from './template.js';

const unresolved = 'CloudFormation templates with values that are known only when they are deployed';
const nested = 'nested stacks of CloudFormation, which are read only where they lie in the source';
const macros = 'CloudFormation templates with macros or loops that change them when they are deployed';
const cut = 'resources of a CloudFormation template beyond the first 1000';
const elsewhere = new Set(['AWS::CloudFormation::Stack', 'AWS::Serverless::Application']);

interface Looked {
  readonly findings: readonly Finding[];
  readonly isUnresolved: boolean;
}

function look(path: string, lines: Lines, template: Template, outcomes: Outcomes): Looked {
  const module = new Module([{ path, blocks: blocksIn(template, outcomes) }]);
  const findings = terraformRules.flatMap((rule) => findingsOf(rule, module, () => ({ path, lines })));
  return { findings, isUnresolved: module.unresolved.size > 0 };
}

const keyOf = ({ rule, address }: Finding): string => `${rule}\n${address ?? ''}`;

const counted = (findings: readonly Finding[]): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>();
  for (const one of findings) counts.set(keyOf(one), (counts.get(keyOf(one)) ?? 0) + 1);
  return counts;
};

/** Of one rule and resource, as many as there are in the way that has the fewest. */
function inAll(ways: readonly Looked[]): Finding[] {
  const [first, ...others] = ways;
  const counts = others.map(({ findings }) => counted(findings));
  const taken = new Map<string, number>();
  return (first?.findings ?? []).filter((one) => {
    const key = keyOf(one);
    const number = (taken.get(key) ?? 0) + 1;
    taken.set(key, number);
    return counts.every((count) => (count.get(key) ?? 0) >= number);
  });
}

/** null: it is no template. */
export function checkTemplate(path: string, lines: Lines): Outcome | null {
  const { text } = lines;
  let template: Template | null;
  try {
    template = Template.read(text);
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    return saysTemplate(text) ? failed(path, `CloudFormation templates that cannot be read: ${error.message}`) : null;
  }
  if (template === null) return null;
  const read: Template = template;
  const ways = worldsOf(read).map((outcomes) => look(path, lines, read, outcomes));
  const findings = setAside(read, inAll(ways));
  const notes = [
    ...(ways.some(({ isUnresolved }) => isUnresolved) ? [unresolved] : []),
    ...(read.resources.some(({ type }) => elsewhere.has(type)) ? [nested] : []),
    ...(read.hasMacro ? [macros] : []),
  ].map((reason) => leftOut(path, reason));
  const faults = read.isCut ? [failed(path, cut)] : [];
  return together([{ ...nothing, findings, scanned: [path] }, ...notes, ...faults]);
}
