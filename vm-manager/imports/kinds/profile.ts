// The shape of what is known of a tool, and short ways to write it down.
import type { Severity, Source } from '../../findings/words.js';

/** An expression, or a list that is too long for one. */
export type Pattern = Pick<RegExp, 'test'>;

export interface ToolProfile {
  /** Its name in the hub, also where SARIF spells it otherwise. */
  readonly name: string;
  /** Of the name in a report. */
  readonly names: RegExp;
  readonly kind?: Source;
  /** Rules (id, or id and title) of another kind; the first that fits counts. */
  readonly kinds?: readonly (readonly [rule: Pattern, kind: Source])[];
  /** Rules that are about security, of a tool that mostly is not. The others are quality unless the report names a
   * weakness, a vulnerability or a score, or its words say that it is about security. */
  readonly security?: Pattern;
  /** Where a tool has rules about security that no list knows: all that is style. What stands neither here nor in
   * `security` is shown. Like the others of `security` these are quality unless the report says otherwise. */
  readonly style?: Pattern;
  /** Rules that are not about security, whatever the report says, of a tool that mostly is. */
  readonly quality?: Pattern;
  /** Rules of other analyzers under its name, and the profile that judges them; '' where the group `tool` of the
   * expression names it. The group `rule` is the rule's own name, else it is the whole id. */
  readonly carries?: readonly (readonly [rule: RegExp, tool: string])[];
  /** It has no rules of its own: the form of a rule's id tells whose it is. */
  readonly carriesAny?: true;
  /** Another tool whose rules it has: its tables hold for this one. */
  readonly rulesOf?: string;
  /** The id of a rule as the tables have it. */
  readonly spelled?: (ruleId: string) => string;
  /** Its SARIF has the severity as a tag, in the words of its own format. */
  readonly hasSeverityTag?: true;
  /** Its SARIF has a level without a meaning where there is no score; its own format says this. */
  readonly withoutScore?: Severity;
}

type More = Omit<ToolProfile, 'name' | 'names'>;

export const of = (name: string, names: RegExp, more: More): ToolProfile => ({ name, names, ...more });

const spaced = (name: string): string =>
  name.replace(/[.+()]/g, '\\$&').replace(/(?<=[a-z])(?=[A-Z])|[- _]/g, '[-_ ]?');

/** Tools of one kind whose names differ from their patterns in nothing but case and what stands between words. */
export const each = (kind: Source, names: readonly string[]): ToolProfile[] =>
  names.map((name) => of(name, new RegExp(`^${spaced(name)}(?![a-z])`, 'i'), { kind }));

/** A name that is a common word stands alone, but for a version and words of writers of reports. */
const alone = (names: string): RegExp =>
  new RegExp(
    `^(?:cargo-|rust-|@[\\w-]+/)?(?:${names})(?:\\.?js)?` +
      `(?:[-_: ]+(?:formatter|sarif|cli|linter|rs|annotations?)){0,3}(?:[ @v-]*\\d[\\d.]*\\S{0,20})?$`,
    'i',
  );

/** A tool that is mostly about style; without `security`, none of its rules is of its own about security. */
export const linter = (name: string, security: Pattern = /(?!)/, more: More = {}, names = spaced(name)): ToolProfile =>
  of(name, alone(names), { ...more, security });

/** One expression of many pieces: names at the beginning of a rule's id. */
export const startsWithAny = (...pieces: readonly string[]): RegExp => new RegExp(`^(?:${pieces.join('|')})`, 'i');
