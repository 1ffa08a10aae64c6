// Writes the OpenAPI documents of both APIs below build/openapi/. Started by bin/build.mjs.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describeApis } from './describe.js';

const directory = fileURLToPath(new URL('../../openapi/', import.meta.url)); // from build/api/documents
await mkdir(directory, { recursive: true });
for (const [name, document] of Object.entries(await describeApis()))
  await writeFile(join(directory, `${name}.json`), JSON.stringify(document));
