// What a site may have otherwise than the installation: the same settings under the same names; null takes the
// installation's. compiler/policy/site-policies.ts makes rules of them.
import { Type } from '@sinclair/typebox';
import { closed, Flag, OrNull, Whole } from '../row.js';
import { categoryKeys, type CategoryKey } from './categories.js';
import { AllowedContentTypes, AllowedMethods, RestrictedExtensions, RestrictedHeaders } from './http-policy.js';

const Switch = () => Type.Optional(Type.Object({ enabled: Flag(true) }, closed));
const switches = Object.fromEntries(categoryKeys.map((key) => [key, Switch()])) as Record<
  CategoryKey,
  ReturnType<typeof Switch>
>;

export const siteRules = {
  paranoia_level: OrNull(Whole(1, 4, 1), 'null follows the global paranoia_level'),
  inbound_threshold: OrNull(Whole(1, 1_000_000, 5), 'null follows the global inbound_threshold'),
  outbound_threshold: OrNull(Whole(1, 1_000_000, 4), 'null follows the global outbound_threshold'),
  early_blocking: OrNull(Type.Boolean(), 'null follows the global early_blocking'),
  categories: OrNull(
    Type.Object(switches, closed),
    'such as {"php": {"enabled": false}}; a category that is not named follows the global one, and so do excluded ' +
      'paths',
  ),
  allowed_methods: OrNull(AllowedMethods(), 'null follows the global allowed_methods'),
  allowed_content_types: OrNull(AllowedContentTypes(), 'null follows the global allowed_content_types'),
  restricted_headers: OrNull(RestrictedHeaders(), 'null follows the global restricted_headers'),
  restricted_extensions: OrNull(RestrictedExtensions(), 'null follows the global restricted_extensions'),
  request_body_limit_bytes: OrNull(
    Whole(1024, 2 ** 30, 13_107_200),
    'larger request bodies of the site are refused with 413; null follows request_body_limit_bytes and ' +
      'limits.request_body_bytes_max',
  ),
} as const;
