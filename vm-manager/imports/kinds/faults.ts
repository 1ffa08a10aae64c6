// Results that are no findings: the tool says that it could not read a file, or failed on it. What it would have found
// there is not known, so that such a report is not complete.
import {
  fault,
  isDropped,
  showLocation,
  type FindingRecord,
  type Item,
  type Items,
  type ReportFacts,
} from '../record.js';
import { startsWithAny } from './profile.js';
import { analyzerOf } from './analyzer.js';

/** Ids that mean it in every tool that has them. */
const anyTool = new RegExp(
  '^(?:fatal[-_ ]?)?(?:parse|parser|parsing|syntax|lex(?:er|ical)?|tokeni[sz]er|internal|fatal|load' +
    '|decode|encoding|io)[-_ ]?(?:error|failure|exception)s?$|^invalid[-_ ]syntax$|^(?:parse|parser|parsing|' +
    'syntax|fatal)$|^clang-diagnostic-' +
    '(?:fatal-)?error$|^(?:unable|failed|could[-_ ]not)[-_ ]to[-_ ](?:parse|read|load|open)',
  'i',
);
/** Of a result without a rule: it is about the file, and no rule has found it. */
const anyText = new RegExp(
  '^\\W{0,3}(?:fatal )?(?:parsing|parse|parser|syntax|internal|lexical|fatal) ?(?:error|failure)|^(' +
    "?:syntax|indentation|tab|unicode\\w*)error\\b|^(?:failed|unable|could not|cannot|can't) (?:to )" +
    '?(?:parse|read|open|load|process)|^unexpected token|^unterminated',
  'i',
);
/** Rules that were not applied: their plugin is not there. */
const notApplied = /^Definition for rule .{1,200} not found/i;

/** By the names of profiles. */
const byTool: Readonly<Record<string, RegExp>> = {
  Flake8: startsWithAny('E9\\d\\d$'),
  pycodestyle: startsWithAny('E9\\d\\d$'),
  Ruff: startsWithAny('E9\\d\\d$|invalid-syntax|syntax-errors?$|io-error$'),
  Pylint: startsWithAny(
    'F\\d{4}$|E0001$|fatal$|astroid-error$|parse-error$|config-parse-error$|syntax-error$|method-check-failed$',
  ),
  mypy: startsWithAny('syntax$|blocker$'),
  pyright: startsWithAny('syntaxError$'),
  RuboCop: startsWithAny('Lint/Syntax$|Syntax$|Fatal$'),
  reek: startsWithAny('SyntaxError|EncodingError'),
  PHPStan: startsWithAny('phpstan\\.(?:parse|internal|reflection|php|dirtyScope)|phpstanPhpParser'),
  Psalm: startsWithAny('ParseError$|173$|InvalidSyntax|UnrecognizedStatement$|UnrecognizedExpression$'),
  PHP_CodeSniffer: startsWithAny('Internal\\.(?:Exception|Tokenizer|NoCode)|Generic\\.PHP\\.Syntax'),
  PHPMD: startsWithAny('ParsingError|ProcessingError'),
  Phan: startsWithAny('PhanSyntax|PhanInvalidFile'),
  Hadolint: startsWithAny('DL1000$|parse'),
  stylelint: startsWithAny('CssSyntaxError$|parseErrors$'),
  checkstyle: startsWithAny('(?:[\\w.]+\\.)?(?:TreeWalker|Checker)$|.*Exception$'),
  PMD: startsWithAny('ProcessingError|ParseException|ConfigurationError'),
  ktlint: startsWithAny('.*parse-?exception|internal:'),
  Biome: startsWithAny('(?:lint/)?parse(?:/|$)|internalError(?:/|$)|syntax(?:/|$)'),
  yamllint: startsWithAny('syntax$|parse'),
  JSHint: startsWithAny('E(?:001|006|019|020|021|024|030|031|041|043)$'),
  Cppcheck: startsWithAny(
    '(?:syntaxError|internalError|internalAstError|cppcheckError|unknownMacro|preprocessorErrorDirect' +
      'ive|fileNotFound|instantiationError)$',
  ),
  'clang-tidy': startsWithAny('clang-diagnostic-error$|clang-diagnostic-fatal'),
  'Clang Static Analyzer': startsWithAny('clang-diagnostic-error$'),
  'golangci-lint': startsWithAny('typecheck$'),
  Staticcheck: startsWithAny('compile$'),
  clippy: startsWithAny('E\\d{4}$'),
  tsc: startsWithAny('TS1\\d{3}$'),
  typescript: startsWithAny('TS1\\d{3}$'),
  SonarQube: startsWithAny('(?:[\\w-]+:)?(?:S2260|ParsingError(?:Check)?)$'),
  Roslyn: startsWithAny(
    'AD0001$|CS8032$|CS8034$|CS8785$|CS(?:1001|1002|1003|1022|1026|1040|1513|1514|1519|1525|1056)$',
  ),
  luacheck: startsWithAny('E?0[1-3]\\d$'),
  'cfn-lint': startsWithAny('E0000$|E0001$|E0002$'),
  'ansible-lint': startsWithAny('syntax-check|load-failure|parser-error|internal-error'),
  tflint: startsWithAny('parse|hcl'),
  'Perl::Critic': startsWithAny('.*ParseError|Perl::Critic::Exception'),
  detekt: startsWithAny('.*(?:parse|compil)\\w*error'),
};
/** ShellCheck numbers what its parser says with 1; an error of it ends the reading of the script. */
const shellParser = /^(?:SC)?1\d{3}$/;

/** Whether the record says that a file was not read. */
function isFault(record: FindingRecord, tool: string): boolean {
  const { title, description, severity, cwes, source, location } = record;
  if (source === 'secret' || source === 'sca' || cwes.length > 0) return false;
  const { profile, rule: ruleId } = analyzerOf(tool, record.ruleId, 'path' in location ? location.path : '');
  if (anyTool.test(ruleId)) return true;
  const name = profile?.name ?? '';
  const text = description === '' ? title : description;
  if (['', name, tool, 'null', 'undefined'].includes(ruleId) || ruleId === title)
    if (anyText.test(text) || anyText.test(title)) return true;
  if (notApplied.test(text)) return true;
  if (name === 'ShellCheck' || name === 'Hadolint')
    if (shellParser.test(ruleId) && severity !== 'low' && severity !== 'info' && severity !== 'medium') return true;
  const rules = Object.hasOwn(byTool, name) ? byTool[name] : undefined;
  return rules !== undefined && (rules.test(ruleId) || (/^[\w/.-]{1,100}$/.test(title) && rules.test(title)));
}

/** The item, or what it says of the run in the place of a finding. */
function withoutFaults(item: Item, reportTool: string): Item {
  if (isDropped(item)) return item;
  const tool = item.tool ?? reportTool;
  if (!isFault(item, tool)) return item;
  return fault(`${showLocation(item.location)} (${item.ruleId || tool}): ${item.title}`);
}

/**
 * The records of a report; what says that the tool could not read a file is none of them. After the last one
 * `facts.complete` is false if one was unread or a file was not read, whatever its importer has written there
 * meanwhile.
 */
export async function* provingAbsence(read: AsyncIterable<Items>, facts: ReportFacts): AsyncGenerator<Items> {
  let isLacking = false;
  for await (const given of read) {
    const items = given.map((item) => withoutFaults(item, facts.tool));
    isLacking ||= items.some((item) => isDropped(item) && (item.isUnread || item.isFault === true));
    yield items;
  }
  if (isLacking) facts.complete = false;
}
