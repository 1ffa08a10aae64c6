// /evidence: what has names of its own stands before what has an id.
import type { Endpoint } from '../kit/endpoint.js';
import { checkEndpoints } from './check-endpoints.js';
import { fileEndpoints } from './file-endpoints.js';
import { packEndpoints } from './pack-endpoints.js';

export const evidenceEndpoints: readonly Endpoint[] = [...fileEndpoints, ...checkEndpoints, ...packEndpoints];
