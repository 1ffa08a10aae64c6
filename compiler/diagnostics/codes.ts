// Every code that the compiler can report, with its severity and a hint on how to fix it; a code that is not in the
// table does not type-check, and compile-program.test.ts asserts that each one is shown by a golden case or a test.

export type Severity = 'error' | 'warning' | 'info';

interface CodeEntry {
  readonly severity: Severity;
  /** What to do about it; shown under the excerpt. */
  readonly hint: string;
}

/**
 * GH-C1xxx reading text, 2xxx rules, 3xxx operators and regexes, 4xxx actions, 5xxx directives, 6xxx refusals, 7xxx
 * settings.
 */
export const diagnosticCodes = {
  'GH-C1001': {
    severity: 'error',
    hint: 'Close the quote on the same line, or end the line with a backslash to continue it.',
  },
  'GH-C1002': {
    severity: 'error',
    hint: 'Put whitespace between the arguments of a directive; quote an argument that contains spaces.',
  },
  'GH-C1003': {
    severity: 'warning',
    hint: 'Remove the whitespace after the backslash; other engines do not see a continuation here.',
  },
  'GH-C1004': {
    severity: 'error',
    hint: 'Check the spelling of the directive; compiler/program/directives/ has the supported ones.',
  },
  'GH-C1005': {
    severity: 'error',
    hint: 'Check the path; it is resolved relative to the file that names it, then as given.',
  },
  'GH-C1006': { severity: 'error', hint: 'Remove one of the Include directives of the cycle.' },
  'GH-C1007': { severity: 'error', hint: 'Split the configuration or raise the limit of included files.' },
  'GH-C1008': { severity: 'error', hint: 'Give the directive the arguments its reference describes.' },
  'GH-C1011': {
    severity: 'warning',
    hint: 'End the line with a backslash; Apache-style readers do not accept a bare line end inside quotes.',
  },
  'GH-C1012': {
    severity: 'warning',
    hint: 'Remove the backslash from the end of the comment, or put # in front of this line too.',
  },
  'GH-C1010': { severity: 'error', hint: 'SecLang is read as bytes: pass text with one code unit per byte (latin1).' },
  'GH-C2001': { severity: 'error', hint: 'Give the rule an id that no other rule has, e.g. id:1000001.' },
  'GH-C2002': { severity: 'error', hint: 'Renumber one of the two rules.' },
  'GH-C2003': {
    severity: 'warning',
    hint: 'Follow the rule by the SecRule or SecAction it is chained to, or remove "chain".',
  },
  'GH-C2004': { severity: 'error', hint: 'Move the disruptive action to the first rule of the chain.' },
  'GH-C2005': { severity: 'error', hint: 'Check the variable; names are listed in the ModSecurity reference.' },
  'GH-C2006': {
    severity: 'error',
    hint: 'Write the target as VARIABLE, VARIABLE:name, VARIABLE:/regex/, &VARIABLE or !VARIABLE:name.',
  },
  'GH-C2007': {
    severity: 'warning',
    hint: 'Move the rule to a phase in which the variable is known, or it will see an empty value.',
  },
  'GH-C2009': { severity: 'warning', hint: 'Add a SecMarker with this name after the rule, or correct the name.' },
  'GH-C2010': { severity: 'info', hint: 'Correct the id, tag or message, or remove the directive.' },
  'GH-C2011': { severity: 'error', hint: 'Give the rule at least one target that is not an exclusion.' },
  'GH-C2012': { severity: 'error', hint: 'Use ids and ranges such as 942100 or 942000-942999.' },
  'GH-C2013': {
    severity: 'error',
    hint: 'Only collections (ARGS, TX, REQUEST_HEADERS and so on) have members; remove the selector.',
  },
  'GH-C2014': { severity: 'info', hint: 'Set "phase" so that the reader need not know the default.' },
  'GH-C2016': { severity: 'warning', hint: 'Give the SecAction an id, so that it can be logged, removed and updated.' },
  'GH-C2015': {
    severity: 'warning',
    hint: 'Remove the metadata from the chained rule; only the first rule of a chain is removed or reported by it.',
  },
  'GH-C3001': { severity: 'error', hint: 'Check the spelling of the operator.' },
  'GH-C3002': { severity: 'error', hint: 'Give the operator its argument.' },
  'GH-C3003': {
    severity: 'error',
    hint:
      'Fix the regular expression; PCRE syntax is supported without look-behind, back-references, and look-ahead ' +
      'for more than short texts.',
  },
  'GH-C3004': { severity: 'error', hint: 'Fix the argument of the operator.' },
  'GH-C3005': { severity: 'warning', hint: 'Remove the argument; the operator takes none.' },
  'GH-C3006': { severity: 'warning', hint: 'Write %{VARIABLE} or %{VARIABLE.member}; the text is kept as it is.' },
  'GH-C3007': { severity: 'warning', hint: 'Correct the entry or remove it; it has no effect.' },
  'GH-C4001': {
    severity: 'error',
    hint: 'Check the spelling of the action; a value with commas stands in single quotes.',
  },
  'GH-C4002': { severity: 'error', hint: 'Fix the value of the action.' },
  'GH-C4003': { severity: 'error', hint: 'Check the spelling of the transformation.' },
  'GH-C4004': { severity: 'error', hint: 'Close the quote of the action value.' },
  'GH-C4005': { severity: 'warning', hint: 'Remove the value; the action takes none.' },
  'GH-C4006': { severity: 'error', hint: 'Check the ctl option; see the ModSecurity reference for the list.' },
  'GH-C4007': {
    severity: 'error',
    hint: 'Use a collection that can be written: TX, IP, GLOBAL, RESOURCE, USER or SESSION.',
  },
  'GH-C4008': { severity: 'warning', hint: 'Keep one of them; the last one counts.' },
  'GH-C5001': { severity: 'error', hint: 'Use one of the values named in the message.' },
  'GH-C5002': {
    severity: 'info',
    hint: 'The directive is accepted and has no effect in a proxy; remove it or leave it for other engines.',
  },
  'GH-C5003': {
    severity: 'error',
    hint: 'Give the SecDefaultAction a disruptive action (pass, deny, drop, redirect or allow).',
  },
  'GH-C5004': { severity: 'error', hint: 'Keep one SecDefaultAction per phase.' },
  'GH-C5005': { severity: 'error', hint: 'Move the action from the SecDefaultAction to the rules.' },
  'GH-C5006': { severity: 'error', hint: 'Use a mapping file that contains this code page.' },
  'GH-C5007': { severity: 'info', hint: 'Give the mapping file to override the table that is built in.' },
  'GH-C6001': { severity: 'error', hint: 'Remove it: rules must not run programs or scripts.' },
  'GH-C6002': { severity: 'error', hint: 'Remove it: rules must not load rules or decisions over the network.' },
  'GH-C6003': { severity: 'error', hint: 'Remove it: rules must not write files.' },
  'GH-C6004': { severity: 'error', hint: 'Remove the rule or express it with a supported operator.' },
  'GH-C6005': { severity: 'error', hint: 'Remove the rule or express it with a supported variable.' },
  'GH-C6006': { severity: 'error', hint: 'Remove the action; express the intent with the settings of the proxy.' },
  'GH-C7001': { severity: 'error', hint: 'Correct the value of the setting.' },
  'GH-C7003': { severity: 'error', hint: 'Give a directory with the files of an OWASP CRS release, 4.x or 3.3.x.' },
  'GH-C7004': { severity: 'warning', hint: 'Check the category against the tags of this rule set.' },
} as const satisfies Record<string, CodeEntry>;

export type DiagnosticCode = keyof typeof diagnosticCodes;
