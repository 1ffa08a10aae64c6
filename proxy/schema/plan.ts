// What a node enforces of a specification, as data: the control plane makes it of an OpenAPI document, a worker makes
// closures of it (schema/json/compile.ts). It travels in the configuration of a generation, as JSON.

/** JSON Schema 2020-12, of which `schema/json` says what is understood. `$ref` names a member of `definitions`. */
export type JsonSchema = boolean | { readonly [keyword: string]: unknown };

export const schemaActions = ['ignore', 'alert', 'block'] as const;
export type SchemaAction = (typeof schemaActions)[number];

/** OpenAPI 3.1 section 4.8.12: where a parameter stands and how its value is written. */
export interface PlannedParameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header' | 'cookie';
  readonly required: boolean;
  readonly style: 'simple' | 'label' | 'matrix' | 'form' | 'spaceDelimited' | 'pipeDelimited' | 'deepObject';
  readonly explode: boolean;
  /** Of its value; with `mediaType` of what its text holds in that type. */
  readonly schema: JsonSchema;
  /** It is declared with `content`: `application/json` is parsed, any other is taken as text. */
  readonly mediaType: string | null;
  readonly allowsEmpty: boolean;
}

/** By field of a form: how it is written (OpenAPI 3.1 section 4.8.15). */
export type PlannedEncoding = Readonly<
  Record<
    string,
    { readonly style: PlannedParameter['style']; readonly explode: boolean; readonly mediaType: string | null }
  >
>;

export interface PlannedMedia {
  /** null: declared without a schema, anything fits. */
  readonly schema: JsonSchema | null;
  readonly encoding: PlannedEncoding;
}

/** By media type or range (`application/*`), in small letters, without parameters. */
export type PlannedContent = Readonly<Record<string, PlannedMedia>>;

export interface PlannedOperation {
  /** In capitals. */
  readonly method: string;
  /** Whole paths as clients send them, one for each server of the document: `/v1/orders/{id}`. */
  readonly templates: readonly string[];
  /** null: as the specification. */
  readonly action: SchemaAction | null;
  readonly parameters: readonly PlannedParameter[];
  /** null: none is declared, so none may come. */
  readonly body: { readonly required: boolean; readonly content: PlannedContent } | null;
  /** By status, range (`2XX`) or `default`. */
  readonly responses: Readonly<Record<string, PlannedContent>>;
}

export interface SchemaPlan {
  /** Of the specification; one of a site has one of it. */
  readonly name: string;
  readonly site: string;
  readonly action: SchemaAction;
  readonly responseAction: SchemaAction;
  /** What becomes of requests for paths that no specification of the site declares. */
  readonly unknownPaths: SchemaAction;
  readonly operations: readonly PlannedOperation[];
  /** By the text of the reference. */
  readonly definitions: Readonly<Record<string, JsonSchema>>;
}
