// Lines of compilers and linters: `file:line:column: level: text [rule]`, with what stands between them: where the
// place is included from, the line of the source with a mark below it, notes, counts. A text that has another line may
// be of anything, so that it proves nothing; an empty one is what these tools print where they have found nothing.
import { isCppcheckFault, isOfCppcheckRun } from '../../kinds/cppcheck.js';
import { ruleOf, ruleOfLine } from '../../kinds/rule-names.js';
import { fault, noFinding, unread, type Item, type ReportFacts } from '../../record.js';
import { readLines } from '../../reading/report-file.js';
import type { Format } from '../format.js';
import { lintRecord } from './lint-record.js';

const otherwise = 'Lines of a tool';

const place = '((?:[A-Za-z]:)?[^:\\n]{1,1000}):(\\d{1,9}):(?:(\\d{1,9}):)?';
const levels = 'fatal error|error|warning|note|info|style|performance|portability|information|debug|remark';
const findingLine = new RegExp(`^${place} (${levels}): (.*?) {1,2}\\[([^[\\]]{1,200})\\]$`);
const placedLine = new RegExp(`^${place}(?: (${levels}):)? +(.*)$`);
const isNote = (level: string | undefined): boolean => level === 'note' || level === 'remark' || level === 'info';

/** Colours and links of a terminal. */
// eslint-disable-next-line no-control-regex
const decorations = /\u001b\[[\d;]*[A-Za-z]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)/g;

/** Where a place is: it is of the finding behind it. */
const context = new RegExp(
  [
    '^(?:In file included from| {2,}from|In module imported) .{1,1000}[:,]$',
    '^(?:\\S.{0,1000}: )?(?:[Ii]n|At|at) (?:static |copy |move |member |instantiation|constructor|destructor|' +
      'function|lambda|top level|global scope|substitution|program|subroutine|unit|file scope|constexpr|' +
      'deduction).{0,4000}:$',
    '^ {2,}inlined from .{1,4000}[:,]$',
    '^(?:[A-Za-z]:)?[^:]{1,1000}:\\d{1,9}:(?:\\d{1,9}:)? {2,}(?:required|recursively required|' +
      'in .constexpr. expansion|instantiated|\\[ ?skipping)',
  ].join('|'),
);
/** What a tool prints of its run beside findings: counts, files that it has looked at, steps of a build. */
const said = new RegExp(
  [
    '^\\d{1,9} (?:warning|note|remark)s?(?: \\([^)]{1,200}\\))? generated\\.?$',
    '^Suppressed \\d{1,9} warnings? \\(.{1,300}\\)\\.?$',
    '^Use -(?:header-filter|system-headers).{1,300}$',
    '^\\d{1,9} warnings? treated as errors?$',
    '^(?:Checking|Done checking) \\S.{0,1000}(?: \\.\\.\\.|: .{0,1000}\\.\\.\\.)$',
    '^\\d{1,9}/\\d{1,9} files checked \\d{1,3}% done$',
    "^scan-build: (?:Using '|Analysis run complete|No bugs found|\\d{1,9} bugs? found|" +
      "Removing directory|Run 'scan-view|The analyzer)",
    '^(?:g?make|ninja)(?:\\[\\d{1,4}\\])?: (?:Entering|Leaving) directory .{1,1000}$',
    '^(?:g?make|ninja)(?:\\[\\d{1,4}\\])?: Nothing to be done for .{1,1000}$',
    '^\\[ {0,2}\\d{1,3}%\\] (?:Building|Linking|Built target|Generating) .{1,1000}$',
    '^Success: no issues found in \\d{1,9} source files?$',
  ].join('|'),
);
/** An excerpt of the source with the number of its line, as GCC writes it, and what its analyzer says of the way. */
const excerpt =
  /^ *(?:\d{1,9}|\.{3}|\+{3})? *\|(?:[ |+^~<>-]|\d|$)|^ {2,}[‘'`"].{1,400}: events? \d|^[ |+<>-]*(?:\+-->|<-+\+)/;
const mark = /^[\s~^]*[~^][\s~^]*$/;

const isFinding = (line: string): boolean => findingLine.test(line);

type Before = 'finding' | 'source' | 'mark' | 'other';

/** Reads lines one after the other; what is no finding may belong to the one before. */
class Reader {
  private before: Before = 'other';
  /** The line of the source, if a mark stands below it. */
  private held: { readonly number: number; readonly text: string } | null = null;
  private isOfTool = false;
  private readonly facts: ReportFacts;

  constructor(facts: ReportFacts) {
    this.facts = facts;
  }

  take(number: number, text: string): Item[] {
    if (this.held !== null && mark.test(text)) {
      this.held = null;
      this.before = 'mark';
      return [];
    }
    const lost = this.release();
    const found = this.read(number, text);
    return found === null ? lost : [...lost, found];
  }

  /** What is left at the end of the text. */
  end(): Item[] {
    const lost = this.release();
    if (!this.isOfTool && lost.length === 0) return [unread('has no finding and no count', 'line 1')];
    return lost;
  }

  private release(): Item[] {
    const { held } = this;
    this.held = null;
    return held === null ? [] : [unread('is no line of a compiler or linter', `line ${held.number}`)];
  }

  /** null: it belongs to the findings around it. */
  private read(number: number, text: string): Item | null {
    const finding = findingLine.exec(text);
    if (finding !== null) return this.finding(finding, number);
    const [, , , , level] = placedLine.exec(text) ?? [];
    if (isNote(level)) return this.pass('finding');
    if (level !== undefined) {
      this.before = 'finding';
      return unread('has no rule', `line ${number}`);
    }
    if (said.test(text)) {
      this.isOfTool = true;
      return this.pass('other');
    }
    if (context.test(text)) return this.pass('other');
    if (this.before !== 'other' && excerpt.test(text)) return this.pass('source');
    // a finding at an empty line has no source above its mark; below the mark stands the suggested fix
    if (this.before === 'finding' && mark.test(text)) return this.pass('mark');
    if (this.before === 'mark' && /^\s+\S/.test(text)) return this.pass('other');
    if (this.before === 'finding') {
      this.held = { number, text };
      return this.pass('source');
    }
    this.before = 'other';
    return unread('is no line of a compiler or linter', `line ${number}`);
  }

  private pass(before: Before): null {
    this.before = before;
    return null;
  }

  private finding(
    [, path = '', line, column, level = '', text = '', names = '']: RegExpExecArray,
    number: number,
  ): Item {
    [this.before, this.isOfTool] = ['finding', true];
    const source = ruleOfLine(names);
    if (ruleOf(source, path, level).tool === 'Cppcheck') {
      this.facts.tool = 'Cppcheck';
      this.facts.looked?.names.add('Cppcheck');
      if (isOfCppcheckRun(source)) return noFinding('is about the run', `line ${number}`);
      if (isCppcheckFault(source)) return fault(`${path}:${line ?? ''} (${source}): ${text}`);
    }
    const made = lintRecord({ source, level, text, path, line, column, otherwise });
    this.facts.tool = made.tool ?? otherwise;
    this.facts.looked?.names.add(this.facts.tool);
    return made;
  }
}

export const gcc: Format = {
  name: 'gcc',
  label: 'Lines of compilers and linters (GCC, Clang, Cppcheck, ShellCheck)',
  isOfAnyTool: true,
  detection: 'lines such as "a.sh:3:1: warning: text [SC2086]"',
  detect: (beginning) => beginning.replace(decorations, '').split(/\r?\n/, 200).some(isFinding),
  async *read(file, facts) {
    facts.tool = 'Compiler';
    facts.looked = { by: 'tool', names: new Set(), isOfResults: true };
    const reader = new Reader(facts);
    for await (const [number, text] of readLines(file))
      yield* reader.take(number, text.replace(decorations, '').trimEnd());
    yield* reader.end();
  },
};
