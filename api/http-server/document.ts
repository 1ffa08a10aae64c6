// The OpenAPI document, made from the schemas that the routes enforce, and the page that shows it.
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import { ProblemSchema, type App } from '../http-kit/index.js';

/**
 * Of the explorer. The package's own one upgrades to HTTPS, which breaks the page where the control plane is reached
 * over plain HTTP.
 */
const explorerPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

const titleOf = (brand: string): string => `${brand} control plane`;

const description = [
  'Long lists come in pages (limit, cursor, next_cursor), editable resources carry ETags,',
  'refusals are RFC 9457 problem documents.',
].join(' ');

/** Before the first route: it collects their schemas. */
export async function registerDocument(app: App, brand: string): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: titleOf(brand), version: '1', description },
      components: {
        securitySchemes: {
          bearer: {
            type: 'http',
            scheme: 'bearer',
            description: 'a session token of POST /api/login, or an API token',
          },
        },
      },
      security: [{ bearer: [] }],
    },
    refResolver: {
      buildLocalReference: (json, _base, _fragment, i) => (typeof json['$id'] === 'string' ? json['$id'] : `def-${i}`),
    },
  });
  app.addSchema(ProblemSchema);
}

export async function registerExplorer(app: App, brand: string): Promise<void> {
  await app.register(swaggerUi, {
    routePrefix: '/api/docs',
    staticCSP: explorerPolicy,
    theme: { title: titleOf(brand) },
    uiConfig: { layout: 'BaseLayout' }, // without the bar that loads other documents
  });
}
