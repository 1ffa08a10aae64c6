// Writes the console's types of the API, of the documents below build/openapi/. Started by bin/build.mjs.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { mergeDocuments, renderApiTypes, type OpenApiDocument } from './api-types.js';

const root = fileURLToPath(new URL('../../../', import.meta.url)); // from build/console/bundle
const documents = ['api', 'vm-manager'].map(
  (name) => JSON.parse(readFileSync(join(root, `build/openapi/${name}.json`), 'utf8')) as OpenApiDocument,
);
const directory = join(root, 'console/generated');
mkdirSync(directory, { recursive: true });
writeFileSync(join(directory, 'api.d.ts'), renderApiTypes(mergeDocuments(documents)));
