// Every framework: those of this room, and what the firewall answers for beyond them (GDPR, OWASP API). A control that
// both know is one: the weaknesses from here, the checks from both.
import type { Source } from '../findings/words.js';
import type { FirewallAnswers } from '../host.js';
import { asvs } from './frameworks/asvs.js';
import { pciDss, soc2 } from './frameworks/cards-and-trust.js';
import { cis, iso27001, nis2 } from './frameworks/organisations.js';
import { owaspTop10, owaspTop10Of2025 } from './frameworks/owasp.js';
import { topics, type FrameworkData, type Topic, type TopicName } from './topics.js';

export interface Control {
  readonly id: string;
  readonly title: string;
  readonly topics: readonly TopicName[];
  readonly cwes: readonly number[];
  readonly sources: readonly Source[];
  readonly checks: readonly string[];
  readonly openIn: readonly Source[];
  readonly overdue: boolean;
}
export interface Framework {
  readonly id: string;
  readonly name: string;
  readonly version: string;
  readonly controls: readonly Control[];
}

const own: readonly FrameworkData[] = [asvs, owaspTop10, owaspTop10Of2025, pciDss, nis2, iso27001, soc2, cis];

const union = <T>(lists: readonly (readonly T[])[]): T[] => [...new Set(lists.flat())];
const numerically = (a: string, b: string): number => a.localeCompare(b, 'en', { numeric: true });

function controlOf([id, title, ...names]: FrameworkData['controls'][number]): Control {
  const of: readonly Topic[] = names.map((name) => topics[name]);
  return {
    id,
    title,
    topics: names,
    cwes: union<number>(of.map(({ cwes }) => cwes)).sort((a, b) => a - b),
    sources: union<Source>(of.map(({ sources }) => sources)),
    checks: union<string>(of.map(({ checks }) => checks)),
    openIn: union<Source>(of.map(({ openIn }) => openIn ?? [])),
    overdue: of.some(({ overdue }) => overdue === true),
  };
}

const base: readonly Framework[] = own.map(({ controls, ...framework }) => ({
  ...framework,
  controls: controls.map(controlOf),
}));

/** With the controls that the firewall answers for; null: this server has no firewall. */
export function catalogueWith(answers: FirewallAnswers | null): readonly Framework[] {
  const theirs = answers?.frameworks ?? [];
  const merged = base.map((framework) => {
    const other = theirs.find(({ id }) => id === framework.id)?.controls ?? [];
    const both = framework.controls.map((control) => {
      const same = other.find(({ id }) => id === control.id);
      return same === undefined ? control : { ...control, checks: union([same.checks, control.checks]) };
    });
    const more = other.filter(({ id }) => !framework.controls.some((control) => control.id === id));
    return { ...framework, controls: [...both, ...more.map(fromFirewall)].sort((a, b) => numerically(a.id, b.id)) };
  });
  const further = theirs.filter(({ id }) => !base.some((framework) => framework.id === id));
  return [...merged, ...further.map((one) => ({ ...one, controls: one.controls.map(fromFirewall) }))];
}

const fromFirewall = (control: FirewallAnswers['frameworks'][number]['controls'][number]): Control => ({
  ...control,
  topics: [],
  cwes: [],
  sources: [],
  openIn: [],
  overdue: false,
});

/** The control that `framework:number` names; null: there is none. */
export function findControl(
  catalogue: readonly Framework[],
  key: string,
): { readonly framework: Framework; readonly control: Control } | null {
  const at = key.indexOf(':');
  const framework = catalogue.find(({ id }) => id === key.slice(0, at));
  const control = framework?.controls.find(({ id }) => id === key.slice(at + 1));
  return framework === undefined || control === undefined ? null : { framework, control };
}
