// The source behind a path: a directory, an archive or a file.
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { archiveFormOf, archiveSource } from './archive.js';
import { directorySource, fileSource } from './directory.js';
import { SourceError, sourceLimits, type Source, type SourceLimits } from './source.js';

/** Throws the system's error for what is not there, SourceError for what cannot be scanned. */
export async function openSource(
  path: string,
  name = basename(path),
  limits: SourceLimits = sourceLimits,
): Promise<Source> {
  const found = await stat(path);
  if (found.isDirectory()) return directorySource(path, limits);
  if (!found.isFile()) throw new SourceError(`${name} is neither a directory nor a file.`);
  const form = await archiveFormOf(path);
  return form === null ? fileSource(path, name, found.size) : archiveSource(path, form, limits);
}
