// What a site may have otherwise than the installation: the same settings under the same names; null takes the
// installation's. compiler/policy/site-policies.ts makes rules of them.
import { Type } from '@sinclair/typebox';
import { closed, MediaType, OrNull, Path, Whole } from '../row.js';
import { categoryKeys, type CategoryKey } from './categories.js';
import { AllowedContentTypes, AllowedMethods, RestrictedExtensions, RestrictedHeaders } from './http-policy.js';

const Switch = () =>
  Type.Optional(
    Type.Object(
      {
        enabled: Type.Optional(OrNull(Type.Boolean(), 'null follows the global category')),
        path_exclusions: Type.Optional(
          OrNull(
            Type.Array(Path(), { maxItems: 200, uniqueItems: true }),
            'paths where the category is off for this site, instead of the global list; null follows it, [] is none',
          ),
        ),
      },
      closed,
    ),
  );
const switches = Object.fromEntries(categoryKeys.map((key) => [key, Switch()])) as Record<
  CategoryKey,
  ReturnType<typeof Switch>
>;

export const siteRules = {
  paranoia_level: OrNull(Whole(1, 4, 1), 'null follows the global paranoia_level'),
  inbound_threshold: OrNull(Whole(1, 1_000_000, 5), 'null follows the global inbound_threshold'),
  outbound_threshold: OrNull(Whole(1, 1_000_000, 4), 'null follows the global outbound_threshold'),
  second_opinion: OrNull(
    Type.Unsafe<'off' | 'monitor' | 'enforce'>({ type: 'string', enum: ['off', 'monitor', 'enforce'] }),
    'null follows the global second_opinion',
  ),
  early_blocking: OrNull(Type.Boolean(), 'null follows the global early_blocking'),
  categories: OrNull(
    Type.Object(switches, closed),
    'such as {"php": {"enabled": false}, "xss": {"path_exclusions": ["/editor"]}}; what is not named follows the ' +
      'global category',
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
  response_body_limit_bytes: OrNull(
    Whole(0, 2 ** 30, 1_048_576),
    'responses of the site are inspected up to this size, 0 leaves their bodies alone; null follows the global ' +
      'response_body_limit_bytes; never more than limits.response_body_bytes_max',
  ),
  response_body_types: OrNull(
    Type.Array(MediaType(), { maxItems: 100, uniqueItems: true }),
    'media types of responses of the site whose body is inspected; null follows the global response_body_types',
  ),
} as const;
