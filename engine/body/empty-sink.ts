import { Collection } from '../collection.js';
import type { BodyLimits, BodySink } from './body.js';

/** A sink of its own, for a body that is parsed outside a transaction (tests, fuzzing, a worker). */
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
    multipartFlags: new Map(),
  };
}

/** The sink's collections by name. */
export const bodyCollections = ['argsPost', 'files', 'filesNames', 'filesSizes', 'filesTmpNames', 'filesTmpContent', 'multipartFilename', 'multipartName', 'multipartPartHeaders'] as const;

/** The limits of the recommended configuration. */
export const recommendedBodyLimits: BodyLimits = {
  argumentsMax: 1000,
  jsonDepthMax: 512,
  noFilesBytesMax: 131_072,
  uploadFilesMax: 100,
  argumentSeparator: '&',
};
