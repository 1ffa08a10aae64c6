// What is sent with a report.
import { Type } from '@sinclair/typebox';

export const bytesMax = 64 * 1024 * 1024;
const Short = Type.String({ maxLength: 200 });

/** Fields of every upload of a report that may close findings. */
export const PlaceFields = {
  root: Type.Optional(
    Type.String({ maxLength: 1000, description: 'directory of the checkout, which is no part of the stored paths' }),
  ),
  strip_prefix: Type.Optional(Type.String({ maxLength: 1000, description: 'the same as root' })),
  confirm_close: Type.Optional(
    Type.Boolean({ description: 'close also more than vm_import_close_percent of what is open' }),
  ),
};

export const ImportFields = Type.Object(
  {
    application_id: Type.String({ maxLength: 20 }),
    format: Type.Optional(Type.String({ maxLength: 120, description: 'auto, the name of a format, or mapping:NAME' })),
    // a union, because the fields of an upload are checked by TypeBox itself, which knows no bare enum
    mode: Type.Optional(
      Type.Union([Type.Literal('add'), Type.Literal('sync')], {
        description: 'sync closes what this scope no longer reports',
      }),
    ),
    scope_key: Type.Optional(Short),
    branch: Type.Optional(Short),
    commit: Type.Optional(Short),
    scan_date: Type.Optional(Type.String({ maxLength: 40 })),
    entry: Type.Optional(Type.String({ maxLength: 255, description: 'which file of an archive is the report' })),
    ...PlaceFields,
  },
  { additionalProperties: false },
);
export type Fields = typeof ImportFields.static;
