// Which values each phase makes known, source by source: small functions that hand a transaction's values to the hit
// finder, made once for the sources that somebody asks about.
import { scanSources, type ScanSource } from '../program/plan.js';
import type { Collection } from '../transaction/collection.js';
import type { Transaction } from '../transaction/transaction.js';
import { variables } from '../variables/index.js';
import type { FoundValues } from './found-values.js';
import { lastSlot, slotBase, sourceBit, type SourceClasses } from './sources.js';
import type { CompiledTransaction } from './transaction.js';
import type { HeadShapes } from './unscanned/head-shapes.js';

export type Gather = (transaction: CompiledTransaction) => void;

interface CollectionSource {
  readonly source: ScanSource;
  readonly shows: 'names' | 'values';
  readonly read: (transaction: Transaction) => Collection;
}

const collectionSources: readonly CollectionSource[] = [
  { source: 'headerName', shows: 'names', read: (t) => t.requestHeaders },
  { source: 'cookieValue', shows: 'values', read: (t) => t.requestCookies },
  { source: 'cookieName', shows: 'names', read: (t) => t.requestCookies },
  { source: 'argGetValue', shows: 'values', read: (t) => t.argsGet },
  { source: 'argGetName', shows: 'names', read: (t) => t.argsGet },
  { source: 'argPostValue', shows: 'values', read: (t) => t.body.argsPost },
  { source: 'argPostName', shows: 'names', read: (t) => t.body.argsPost },
  { source: 'fileName', shows: 'values', read: (t) => t.body.files },
  { source: 'fileField', shows: 'values', read: (t) => t.body.filesNames },
  { source: 'multipartFilename', shows: 'values', read: (t) => t.body.multipartFilename },
  { source: 'multipartName', shows: 'values', read: (t) => t.body.multipartName },
  { source: 'multipartPartHeader', shows: 'values', read: (t) => t.body.multipartPartHeaders },
  { source: 'responseHeader', shows: 'values', read: (t) => t.responseHeaders },
  { source: 'responseHeaderName', shows: 'names', read: (t) => t.responseHeaders },
];

const scalarSources: readonly ScanSource[] = [
  'requestFilename',
  'requestBasename',
  'requestUri',
  'requestUriRaw',
  'requestLine',
  'queryString',
  'requestBody',
  'responseBody',
];

/** For values that this phase knows first. `shapes`: null where header values have no records. */
export function gatherersOf(
  phase: number,
  classes: SourceClasses,
  found: FoundValues,
  shapes: HeadShapes | null,
): Gather[] {
  const isAsked = (source: ScanSource): boolean => scanSources[source].phase === phase && classes[source] !== -1;
  const list: Gather[] = [];
  if (phase === 1 && (classes.headerValue !== -1 || classes.cookieHeader !== -1))
    list.push(headerGatherer(classes, found, shapes));
  for (const one of collectionSources)
    if (isAsked(one.source))
      list.push((one.shows === 'names' ? nameGatherer : valueGatherer)(one, classes[one.source], found));
  for (const source of scalarSources) {
    const gather = isAsked(source) ? scalarGatherer(source, classes[source], found) : null;
    if (gather !== null) list.push(gather);
  }
  if (isAsked('xml')) list.push(xmlGatherer(classes.xml, found));
  return list;
}

function valueGatherer({ source, read }: CollectionSource, scanClass: number, found: FoundValues): Gather {
  const bit = sourceBit[source];
  const base = slotBase(source);
  return (transaction) => {
    const { names, values } = read(transaction);
    for (let index = 0; index < values.length; index += 1)
      found.take(scanClass, bit, names[index] as string, values[index] as string, base + Math.min(index, lastSlot));
  };
}

function nameGatherer({ source, read }: CollectionSource, scanClass: number, found: FoundValues): Gather {
  const bit = sourceBit[source];
  const base = slotBase(source);
  return (transaction) => {
    const { names, shownNames } = read(transaction);
    for (let index = 0; index < names.length; index += 1)
      found.take(scanClass, bit, names[index] as string, shownNames[index] as string, base + Math.min(index, lastSlot));
  };
}

function scalarGatherer(source: ScanSource, scanClass: number, found: FoundValues): Gather | null {
  const variable = variables.get(scanSources[source].variables[0]);
  if (variable?.kind !== 'scalar') return null;
  const bit = sourceBit[source];
  const base = slotBase(source);
  return (transaction) => {
    found.take(scanClass, bit, '', variable.read(transaction), base);
  };
}

function xmlGatherer(scanClass: number, found: FoundValues): Gather {
  const bit = sourceBit.xml;
  const base = slotBase('xml');
  return ({ body }) => {
    for (const value of body.xmlText) found.take(scanClass, bit, '', value, base);
    for (const value of body.xmlAttributes) found.take(scanClass, bit, '', value, base);
  };
}

/** The Cookie header is a source of its own; the shape of the head is worked out on the way. */
function headerGatherer(
  { headerValue, cookieHeader }: SourceClasses,
  found: FoundValues,
  shapes: HeadShapes | null,
): Gather {
  const base = slotBase('headerValue');
  const cookieBase = slotBase('cookieHeader');
  return (transaction) => {
    const { names, values } = transaction.requestHeaders;
    shapes?.begin();
    for (let index = 0; index < names.length; index += 1) {
      const name = names[index] as string;
      const isCookie = name.length === 6 && name.toLowerCase() === 'cookie';
      const scanClass = isCookie ? cookieHeader : headerValue;
      if (scanClass === -1) continue;
      const record = found.take(
        scanClass,
        isCookie ? sourceBit.cookieHeader : sourceBit.headerValue,
        name,
        values[index] as string,
        (isCookie ? cookieBase : base) + Math.min(index, lastSlot),
      );
      shapes?.add(index, name, record.number);
    }
    if (shapes !== null) transaction.headShape = shapes.find(transaction);
  };
}
