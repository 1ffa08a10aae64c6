// Request and response bodies.
import { argument, type Directive } from './directive.js';
import { choice, ignored, number, onOff } from './values.js';

const bytesMax = 2 ** 40;

const mimeType: Directive = {
  name: 'SecResponseBodyMimeType',
  argsMin: 1,
  argsMax: 64,
  apply: (node, { settings }) => {
    settings.responseBodyMimeTypes = node.args
      .flatMap((arg) => arg.text.split(/\s+/))
      .filter((type) => type !== '')
      .map((type) => type.toLowerCase());
  },
};
const mimeTypesClear: Directive = {
  name: 'SecResponseBodyMimeTypesClear',
  argsMin: 0,
  argsMax: 0,
  apply: (_node, { settings }) => {
    settings.responseBodyMimeTypes = [];
  },
};

const externalEntity: Directive = {
  name: 'SecXMLExternalEntity',
  argsMin: 1,
  argsMax: 1,
  apply: (node, _configuration, context) => {
    const text = argument(node, 0).toLowerCase();
    if (text === 'off') return;
    if (text === 'on')
      context.report(
        'GH-C6002',
        'SecXMLExternalEntity On is refused: entities are never expanded, for they read files and addresses',
        node,
      );
    else context.report('GH-C5001', 'SecXMLExternalEntity: use Off', node.args[0] ?? node);
  },
};

export const bodyDirectives: readonly Directive[] = [
  onOff('SecRequestBodyAccess', (settings, value) => (settings.requestBodyAccess = value)),
  number('SecRequestBodyLimit', 0, bytesMax, (settings, value) => (settings.requestBodyLimitBytes = value)),
  number(
    'SecRequestBodyNoFilesLimit',
    0,
    bytesMax,
    (settings, value) => (settings.requestBodyNoFilesLimitBytes = value),
  ),
  choice(
    'SecRequestBodyLimitAction',
    ['Reject', 'ProcessPartial'],
    (settings, value) => (settings.requestBodyLimitAction = value),
  ),
  number('SecRequestBodyJsonDepthLimit', 1, 1_000_000, (settings, value) => (settings.requestBodyJsonDepthMax = value)),
  ignored('SecRequestBodyInMemoryLimit', 'bodies under the limit are always held in memory'),
  onOff('SecResponseBodyAccess', (settings, value) => (settings.responseBodyAccess = value)),
  number('SecResponseBodyLimit', 0, bytesMax, (settings, value) => (settings.responseBodyLimitBytes = value)),
  choice(
    'SecResponseBodyLimitAction',
    ['Reject', 'ProcessPartial'],
    (settings, value) => (settings.responseBodyLimitAction = value),
  ),
  mimeType,
  mimeTypesClear,
  number('SecUploadFileLimit', 0, 1_000_000, (settings, value) => (settings.uploadFilesMax = value)),
  externalEntity,
];
