// What of HTTP reaches an application: methods, media types, fields and extensions. The same lists stand in the
// settings of the installation and in those of a site, which takes the installation's where it has none of its own.
import { Type } from '@sinclair/typebox';
import { MediaType, Shaped } from '../row.js';

const lists = { uniqueItems: true } as const;

export const AllowedMethods = () =>
  Type.Array(Shaped('^[A-Z][A-Z0-9_-]{0,31}$', 'write a method in capitals'), { ...lists, maxItems: 100 });

export const AllowedContentTypes = () => Type.Array(MediaType(), { ...lists, maxItems: 500 });

export const RestrictedHeaders = () =>
  Type.Array(Shaped('^[A-Za-z0-9!#$&^_.+-]{1,100}$', 'write the name of a field, such as proxy'), {
    ...lists,
    maxItems: 200,
  });

export const RestrictedExtensions = () =>
  Type.Array(Shaped('^\\.[A-Za-z0-9_-]{1,32}$', 'write an extension with its dot, such as .bak'), {
    ...lists,
    maxItems: 500,
  });

/** What applications and APIs send. A type without a parser of its own is read as text (engine/body/text.ts). */
export const usualContentTypes: readonly string[] = [
  'application/x-www-form-urlencoded',
  'multipart/form-data',
  'text/xml',
  'application/xml',
  'application/soap+xml',
  'application/json',
  'application/problem+json',
  'application/ld+json',
  'application/vnd.api+json',
  'application/merge-patch+json',
  'application/json-patch+json',
  'application/graphql',
  'application/graphql-response+json',
  'application/x-ndjson',
  'application/csp-report',
  'application/reports+json',
  'application/cloudevents+json',
  'text/plain',
  'text/csv',
  'text/markdown',
  'text/calendar',
  'application/yaml',
  'application/octet-stream',
  'application/pdf',
  'application/zip',
  'application/gzip',
  'application/x-protobuf',
  'application/protobuf',
  'application/vnd.google.protobuf',
  'application/grpc',
  'application/grpc+proto',
  'application/grpc-web',
  'application/grpc-web+proto',
  'application/grpc-web-text',
  'application/grpc-web-text+proto',
  'application/connect+proto',
  'application/connect+json',
  'application/proto',
  'application/cbor',
  'application/msgpack',
  'application/x-msgpack',
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
  'image/avif',
  'image/heic',
  'image/bmp',
  'image/tiff',
  'image/svg+xml',
  'image/x-icon',
  'audio/mpeg',
  'audio/mp4',
  'audio/ogg',
  'audio/wav',
  'audio/webm',
  'video/mp4',
  'video/webm',
  'video/ogg',
  'video/quicktime',
];

/** Fields that change which request an application sees, or that only attacks and WebDAV have. */
export const usualRestrictedHeaders: readonly string[] = [
  'proxy',
  'lock-token',
  'content-range',
  'if',
  'x-http-method-override',
  'x-http-method',
  'x-method-override',
  'x-middleware-subrequest',
];
