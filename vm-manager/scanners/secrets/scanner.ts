// The secrets scanner as the catalogue has it.
import type { Rule, Scanner } from '../contract.js';
import { keyStore, secretRules } from './rules.js';

const media = new RegExp(
  '\\.(?:png|jpe?g|gif|webp|ico|bmp|tiff?|avif|svgz|mp[34]|m4a|mov|avi|webm|ogg|wav|flac|woff2?|tt' +
    'f|otf|eot|pdf|psd|wasm|so|dylib|dll|exe|class|o|a|pyc|node)$',
  'i',
);
const archives = /\.(?:zip|tar|t?gz|tgz|bz2|xz|zst|7z|rar|jar|war|ear|whl|deb|rpm|apk|nupkg|gem)$/i;

export const secretsScanner: Scanner = {
  kind: 'secrets',
  tool: 'gatehouse-secrets',
  label: 'Secrets',
  rules: [...secretRules, keyStore].map(
    ({ id, version, title, severity, cwes, description, remediation }): Rule => ({
      id,
      version,
      title,
      severity,
      cwes,
      description,
      remediation,
    }),
  ),
  joinsFiles: false,
  fileBytesMax: 5 * 1024 * 1024,
  wants(path) {
    if (media.test(path)) return 'pictures, fonts and other files of a known binary form';
    return archives.test(path) ? 'archives within: unpack them to have them looked at' : true;
  },
  createEngine: async () => (await import('./engine.js')).secretsEngine,
};
