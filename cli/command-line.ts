// `parseArgs` of node:util, with mistakes told as wrong usage.
import { parseArgs } from 'node:util';
import { wrongUsage } from './refusal.js';

export const parseOptions = ((config) => {
  try {
    return parseArgs(config);
  } catch (error) {
    if (error instanceof Error && String((error as NodeJS.ErrnoException).code).startsWith('ERR_PARSE_ARGS'))
      throw wrongUsage(error.message);
    throw error;
  }
}) as typeof parseArgs;
