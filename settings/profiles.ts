// Profiles: named sets of ordinary settings for kinds of applications. A profile is a merge patch (RFC 7396) and
// nothing else: whoever applies one gets a version of the settings like any other, sees what it changes, and changes it
// further. Every setting in it is one that something enforces, and every choice says why.
import type { SettingName } from './table.js';

export interface Profile {
  readonly name: string;
  readonly title: string;
  /** For which application it is, in a sentence. */
  readonly summary: string;
  /** Why it has which value, by setting. */
  readonly why: Readonly<Partial<Record<SettingName, string>>>;
  readonly settings: Readonly<Partial<Record<SettingName, unknown>>>;
}

const jsonTypes = [
  'application/json',
  'application/problem+json',
  'application/ld+json',
  'application/vnd.api+json',
  'application/merge-patch+json',
  'application/json-patch+json',
] as const;
const formTypes = ['application/x-www-form-urlencoded', 'multipart/form-data'] as const;
const mebibyte = 1_048_576;

export const profiles: readonly Profile[] = [
  {
    name: 'rest-api',
    title: 'REST API',
    summary: 'JSON over every method of REST; no forms, no uploads, no pages',
    settings: {
      allowed_methods: ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE'],
      allowed_content_types: [...jsonTypes, 'application/x-ndjson', 'application/cloudevents+json'],
      response_body_types: ['application/json', 'text/plain', 'text/html'],
      request_body_limit_bytes: 2 * mebibyte,
      limits: { request_body_bytes_max: 2 * mebibyte, request_body_over_limit: 'reject' },
      categories: { php: { enabled: true }, fixation: { enabled: false } },
    },
    why: {
      allowed_methods: 'PUT, PATCH and DELETE are the API; the core rule set alone refuses them',
      allowed_content_types: 'what an API does not read it need not accept',
      response_body_types: 'errors of frameworks come as JSON, as text or as a page',
      request_body_limit_bytes: 'documents are small; raise it where they are not',
      limits: 'the same limit where the body is held',
      categories: 'an API without cookies for sessions has none to fixate',
    },
  },
  {
    name: 'uploads',
    title: 'Application with uploads',
    summary: 'forms with large files, such as a document store or a media library',
    settings: {
      allowed_methods: ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE'],
      allowed_content_types: [...formTypes, ...jsonTypes, 'text/xml', 'application/xml'],
      request_body_limit_bytes: 100 * mebibyte,
      request_body_no_files_limit_bytes: mebibyte,
      limits: {
        request_body_bytes_max: 100 * mebibyte,
        request_body_over_limit: 'reject',
        held_body_bytes_max: 1024 * mebibyte,
      },
      timeouts: { client_body_idle_ms: 60_000, upstream_head_ms: 120_000 },
    },
    why: {
      allowed_methods: 'uploads come with POST and PUT',
      allowed_content_types: 'forms, and the API beside them',
      request_body_limit_bytes: 'files of 100 MB are inspected and go through; larger ones are refused with 413',
      request_body_no_files_limit_bytes: 'fields that are no files stay small',
      limits: 'room for ten such uploads at a time and worker; beyond it 503',
      timeouts: 'a slow line needs longer between two pieces, and the application longer to take a file in',
    },
  },
  {
    name: 'wordpress',
    title: 'WordPress and alike',
    summary: 'a content management system in PHP: pages for everybody, an editor behind a login',
    settings: {
      allowed_methods: ['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE'],
      allowed_content_types: [...formTypes, ...jsonTypes, 'text/xml', 'application/xml'],
      request_body_limit_bytes: 64 * mebibyte,
      limits: { request_body_bytes_max: 64 * mebibyte, held_body_bytes_max: 512 * mebibyte },
      categories: {
        php: { enabled: true, path_exclusions: ['/wp-admin/post.php', '/wp-json/wp/v2'] },
        xss: { path_exclusions: ['/wp-admin/post.php', '/wp-admin/customize.php', '/wp-json/wp/v2'] },
        sqli: { path_exclusions: ['/wp-admin/post.php', '/wp-json/wp/v2'] },
        rce: { path_exclusions: ['/wp-admin/post.php', '/wp-json/wp/v2'] },
        java: { enabled: false },
      },
    },
    why: {
      allowed_methods: 'its own API uses PUT, PATCH and DELETE',
      allowed_content_types: 'forms, the block editor in JSON, and the old XML interface',
      request_body_limit_bytes: 'images and themes are uploaded',
      limits: 'the same limit where the body is held',
      categories:
        'who writes pages writes markup, code and quotes: where pages are saved, and only there, those rules are ' +
        'off. There is no Java behind it',
    },
  },
  {
    name: 'graphql',
    title: 'GraphQL API',
    summary: 'one address that takes queries as JSON or as GraphQL text',
    settings: {
      allowed_methods: ['GET', 'HEAD', 'OPTIONS', 'POST'],
      allowed_content_types: [...jsonTypes, 'application/graphql', 'multipart/form-data'],
      response_body_types: ['application/json', 'text/plain', 'text/html'],
      request_body_limit_bytes: mebibyte,
      limits: { request_body_bytes_max: mebibyte, request_body_over_limit: 'reject', uri_bytes_max: 16_384 },
    },
    why: {
      allowed_methods: 'queries come with POST, or with GET where they are cached',
      allowed_content_types: 'multipart is how GraphQL takes files',
      response_body_types: 'answers and errors',
      request_body_limit_bytes: 'a query of a megabyte is no query',
      limits: 'queries in the address are longer than addresses are elsewhere',
    },
  },
];

/** null: there is none of that name. */
export const findProfile = (name: string): Profile | null => profiles.find((one) => one.name === name) ?? null;
