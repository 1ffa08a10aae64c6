// The engine as a whole: mode, limits of arguments, signatures, character map.
import { quoteForMessage } from '../bound-rule.js';
import { builtInUnicodeMap, parseUnicodeMap } from '../unicode-map.js';
import { argument, type Directive } from './directive.js';
import { badValue, choice, number, textValue } from './values.js';

const secArgumentSeparator: Directive = {
  name: 'SecArgumentSeparator',
  argsMin: 1,
  argsMax: 1,
  apply: (node, { settings }, context) => {
    const value = argument(node, 0);
    if (value.length === 1) settings.argumentSeparator = value;
    else badValue(node, context, `SecArgumentSeparator: ${quoteForMessage(value)} is not one character`);
  },
};

const secCookieFormat: Directive = {
  name: 'SecCookieFormat',
  argsMin: 1,
  argsMax: 1,
  apply: (node, _configuration, context) => {
    if (argument(node, 0) !== '0')
      badValue(node, context, 'SecCookieFormat: only 0 (Netscape cookies, what browsers send) is supported');
  },
};

const secUnicodeMapFile: Directive = {
  name: 'SecUnicodeMapFile',
  argsMin: 1,
  argsMax: 16,
  apply: (node, { settings }, context) => {
    const path =
      node.args.length === 1
        ? argument(node, 0)
        : node.args
            .slice(0, -1)
            .map((arg) => arg.text)
            .join(' ');
    const codePage = node.args.length === 1 ? '20127' : argument(node, node.args.length - 1);
    const at = node.args[0] ?? node;
    const data = context.sources.readData(context.file(node.file), path);
    if (data === null) {
      // The recommended configuration names this file; a rule set without it must still load.
      if (path === 'unicode.mapping' && codePage === '20127') {
        settings.unicodeMap = builtInUnicodeMap();
        context.report('GH-C5007', 'unicode.mapping is not there; the built-in table for code page 20127 is used', at);
      } else context.report('GH-C1005', `the mapping file ${quoteForMessage(path)} cannot be read`, at);
      return;
    }
    const map = parseUnicodeMap(data.text, codePage);
    if (map === null)
      context.report(
        'GH-C5006',
        `${quoteForMessage(path)} has no code page ${quoteForMessage(codePage)}`,
        node.args[1] ?? at,
      );
    else settings.unicodeMap = map;
  },
};

export const engineDirectives: readonly Directive[] = [
  choice('SecRuleEngine', ['On', 'Off', 'DetectionOnly'], (settings, value) => (settings.ruleEngine = value)),
  number('SecArgumentsLimit', 1, 1_000_000, (settings, value) => (settings.argumentsMax = value)),
  secArgumentSeparator,
  secCookieFormat,
  secUnicodeMapFile,
  number('SecCollectionTimeout', 1, 2 ** 31, (settings, value) => (settings.collectionTimeoutSeconds = value)),
  textValue(
    'SecComponentSignature',
    (settings, value) => (settings.componentSignatures = [...settings.componentSignatures, value]),
  ),
  textValue('SecServerSignature', (settings, value) => (settings.serverSignature = value)),
  textValue('SecWebAppId', (settings, value) => (settings.webAppId = value)),
];
