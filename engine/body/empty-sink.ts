import { Collection } from '../transaction/collection.js';
import type { BodySink } from './body.js';

/** Empty collections for one body. */
export function createBodySink(): BodySink {
  return {
    argsPost: new Collection(),
    files: new Collection(),
    filesNames: new Collection(),
    filesSizes: new Collection(),
    filesTmpNames: new Collection(),
    filesTmpContent: new Collection(),
    multipartFilename: new Collection(),
    multipartName: new Collection(),
    multipartPartHeaders: new Collection(),
    xmlText: [],
    xmlAttributes: [],
    xmlExternal: [],
    multipartFlags: new Map(),
  };
}

/** The sink's collections by name. */
export const bodyCollections = [
  'argsPost',
  'files',
  'filesNames',
  'filesSizes',
  'filesTmpNames',
  'filesTmpContent',
  'multipartFilename',
  'multipartName',
  'multipartPartHeaders',
] as const;
