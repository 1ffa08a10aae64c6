// English texts of specifications beside traffic (console/web/pages/specs: from-traffic.tsx, reality.tsx).
import type { Shown } from '../shown.js';

export const realityText = {
  fromTraffic: 'Make a specification from traffic',
  fromTrafficAbout:
    'An OpenAPI 3.1 document of every endpoint that was seen of a site, with its parameters, bodies and logins: a ' +
    'draft to review and to upload above.',
  site: 'Site',
  siteSeen: 'Site that was seen',
  download: 'Download',
  endpointsSeen: (a: Shown) => (a === '1' ? 'of one endpoint that was seen' : `of ${a} endpoints that were seen`),
  nothingSeen: 'Nothing was seen of this site yet. Send traffic through the protected port, or from other gateways:',
  toSources: 'Sources',
  title: 'What differs from reality',
  about: 'What traffic shows and this version does not say. What was never seen is not taken out.',
  operations: 'Operations to add',
  parameters: 'Parameters to add',
  leftOut: 'Left out',
  converted: 'It is a patch of the document converted to OpenAPI 3, since Swagger 2.0 was uploaded.',
  downloadPatch: 'Download the JSON Patch',
  downloadWhole: 'Download the document with it',
  additions: 'What it adds',
  adds: 'Adds',
  kinds: { operation: 'operation', parameter: 'parameter', scheme: 'login' },
  operation: 'Operation',
  name: 'Name',
  place: 'Place',
  why: 'Why',
  nothingMissing: 'Nothing is missing',
  nothingMissingAbout: 'Whatever was seen of the site is declared.',
  patch: 'The JSON Patch (RFC 6902)',
} as const;
