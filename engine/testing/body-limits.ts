import type { BodyLimits } from '../body/body.js';

/** The limits of the recommended configuration. */
export const recommendedBodyLimits: BodyLimits = {
  argumentsMax: 1000,
  jsonDepthMax: 512,
  noFilesBytesMax: 131_072,
  uploadFilesMax: 100,
  argumentSeparator: '&',
};
