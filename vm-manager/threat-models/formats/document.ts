// A document of a model, YAML or JSON: our own, Threagile's or OTM's, told apart by the member that names the version;
// and ours, written.
import { isYamlDeeper } from '#http-kit';
import { Ajv } from 'ajv';
import { LineCounter, parseDocument, stringify } from 'yaml';
import { unfit } from '../../kit/endpoint.js';
import { checkDfd, Dfd } from '../model.js';
import { readOtm } from './otm.js';
import { objectOf, textOf, toName, type Json, type Read } from './reading.js';
import { readThreagile } from './threagile.js';

export const documentCharactersMax = 500_000;
const path = '/document';
const levelsMax = 250;

const fits = new Ajv({ strict: false }).compile(Dfd);

/** Characters; beyond it the last of two equal keys counts: the check compares each key with all before it. */
const comparedMax = 50_000;

/** Where a model does not fit its schema, and why; null: it does. */
function faultOf(dfd: unknown): { readonly at: string; readonly reason: string } | null {
  if (fits(dfd)) return null;
  const [fault] = fits.errors ?? [];
  const more = fault?.keyword === 'additionalProperties' ? ` (${String(fault.params['additionalProperty'])})` : '';
  return { at: fault?.instancePath ?? '', reason: `${fault?.message ?? 'does not fit'}${more}` };
}

/** Throws 422 with line and column. */
function parse(text: string): Json {
  if (isYamlDeeper(text, levelsMax))
    throw unfit(path, `nests deeper than ${levelsMax} levels`, 'no format of models needs so many');
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    uniqueKeys: text.length <= comparedMax,
    version: '1.2',
    logLevel: 'silent',
  });
  const [fault] = document.errors;
  if (fault !== undefined) {
    const { line, col } = lines.linePos(fault.pos[0]);
    const reason = fault.message.split('\n')[0]?.replace(/ at line.*/, '') ?? '';
    throw unfit(path, `is neither YAML nor JSON (line ${line}, column ${col}: ${reason})`);
  }
  try {
    return objectOf(document.toJS({ maxAliasCount: 100 }));
  } catch {
    throw unfit(path, 'has too many aliases', 'write what they stand for');
  }
}

function readOwn(document: Json): Read {
  const { gatehouse_threat_model: version, name, ...dfd } = document;
  if (version !== 1) throw unfit(`${path}/gatehouse_threat_model`, 'is not 1, the only version there is');
  const fault = faultOf(dfd);
  if (fault !== null) throw unfit(`${path}${fault.at}`, fault.reason);
  return { format: 'gatehouse', name: toName(textOf(name), 'Threat model'), dfd: dfd as Dfd, notes: [] };
}

/** Throws 422 for what is no model, or one that does not hold together. */
export function readDocument(text: string): Read {
  const document = parse(text);
  const read =
    document['gatehouse_threat_model'] !== undefined
      ? readOwn(document)
      : document['threagile_version'] !== undefined
        ? readThreagile(document)
        : document['otmVersion'] !== undefined
          ? readOtm(document)
          : null;
  if (read === null)
    throw unfit(path, 'is no threat model', 'it begins with gatehouse_threat_model, threagile_version or otmVersion');
  const fault = faultOf(read.dfd);
  if (fault !== null) throw unfit(path, `gives a model that does not fit: ${fault.at} ${fault.reason}`);
  checkDfd(read.dfd, path);
  return read;
}

/** The model in our own form. */
export function writeDocument(name: string, dfd: Dfd, format: 'yaml' | 'json'): string {
  const document = { gatehouse_threat_model: 1, name, ...dfd };
  return format === 'json' ? `${JSON.stringify(document, null, 2)}\n` : stringify(document, { lineWidth: 120 });
}
