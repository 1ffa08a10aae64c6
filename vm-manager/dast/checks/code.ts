// Values that a shell or a template engine evaluates: shown by arithmetic whose result stands nowhere in the request.
import { everywhere, product, proveBy, word, type Attack, type Check } from './check.js';
import { byTime } from './timing.js';

/** The result of the sum appears for the attack alone; `plain` has the same numbers where nothing evaluates them. */
const arithmetic =
  (
    value: string,
    attackOf: (left: number, right: number) => string,
    plainOf: (left: number, right: number) => string,
  ) =>
  (): Attack => {
    const { left, right, result } = product();
    return {
      attack: value + attackOf(left, right),
      neutral: value + plainOf(left, right),
      shows: ({ body }) => body.includes(result),
    };
  };

const shells: readonly ((sum: string) => string)[] = [
  (command) => `;${command}`,
  (command) => `|${command}`,
  (command) => `&& ${command}`,
  (command) => `$(${command})`,
  (command) => `\`${command}\``,
  (command) => `';${command};'`,
  (command) => `\n${command}\n`,
];

const templates: readonly (readonly [open: string, close: string])[] = [
  ['{{', '}}'],
  ['${', '}'],
  ['<%= ', ' %>'],
  ['#{', '}'],
  ['@(', ')'],
  ['{', '}'],
  ['{{=', '}}'],
  ['[[${', '}]]'],
  ['*{', '}'],
  ['#set($gh=', ')$gh'],
];

/** Each in the words of a language; what reads sums alone knows none of them. */
const programs: readonly (readonly [open: string, close: string])[] = [
  ['(function(){return ', '})()'],
  ["'+(function(){return ", "})()+'"],
  ['"+(function(){return ', '})()+"'],
  ['(lambda: ', ')()'],
  ["'+str((lambda: ", "))()+'"],
  ['->{', '}.call'],
  [';print(', ');//'],
  ['${@print(', ')}'],
];

export const codeChecks: readonly Check[] = [
  {
    id: 'command-injection',
    title: 'Command injection',
    severity: 'critical',
    cwe: 78,
    on: 'param',
    profiles: everywhere,
    description: 'A value from the request is run by a shell.',
    remediation: 'Start programs without a shell, with values as separate arguments; check values against a list.',
    prove: async (probe) =>
      proveBy(
        probe,
        shells.map((shell) =>
          arithmetic(
            probe.param.value,
            (left, right) => shell(`expr ${left} \\* ${right}`),
            (left, right) => ` expr ${left} \\* ${right}`,
          ),
        ),
        'The shell works out a product that does not stand in the request.',
      ),
  },
  {
    id: 'command-injection-time',
    title: 'Command injection (time)',
    severity: 'critical',
    cwe: 78,
    on: 'param',
    profiles: everywhere,
    description: 'A value from the request is run by a shell, whose output is not shown.',
    remediation: 'Start programs without a shell, with values as separate arguments; check values against a list.',
    prove: async (probe) =>
      byTime(probe, [
        (v, s) => `${v};sleep ${s};`,
        (v, s) => `${v}|sleep ${s}`,
        (v, s) => `${v}$(sleep ${s})`,
        (v, s) => `${v}';sleep ${s};'`,
      ]),
  },
  {
    id: 'code-injection',
    title: 'Code injection',
    severity: 'critical',
    cwe: 95,
    on: 'param',
    profiles: everywhere,
    description: 'A value from the request is run as code of the program.',
    remediation: 'Never give values to eval or its kin; read them by a parser that knows only what is meant.',
    prove: async (probe) =>
      proveBy(
        probe,
        programs.map(([open, close]) =>
          arithmetic(
            '',
            (left, right) => `${open}${left}*${right}${close}`,
            (left, right) => `${open}"${left}*${right}"${close}`,
          ),
        ),
        'The program works out a product that does not stand in the request.',
      ),
  },
  {
    id: 'template-injection',
    title: 'Server-side template injection',
    severity: 'critical',
    cwe: 1336,
    on: 'param',
    profiles: everywhere,
    description: 'A value from the request is evaluated as part of a template.',
    remediation: 'Pass values as data of the template; never make templates of values from requests.',
    prove: async (probe) =>
      proveBy(
        probe,
        templates.map(([open, close]) =>
          arithmetic(
            word(3),
            (left, right) => `${open}${left}*${right}${close}`,
            (left, right) => `${open.slice(0, -1)} ${left}*${right}${close}`,
          ),
        ),
        'The template engine works out a product that does not stand in the request.',
      ),
  },
];
