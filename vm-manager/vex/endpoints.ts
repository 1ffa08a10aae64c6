// /vex: what an application says of its vulnerabilities, for who uses it.
import { OneOf } from '#http-kit';
import { brandNameOf } from '../branding/current.js';
import { Type } from '@sinclair/typebox';
import { requireApplication } from '../assets/resources.js';
import { endpoint, type Endpoint } from '../kit/endpoint.js';
import { toDocument, vexFormats } from './documents.js';
import { findingsMax, readStatements } from './statements.js';

export const vexEndpoints: readonly Endpoint[] = [
  endpoint({
    method: 'GET',
    path: '/vex/export',
    permission: 'view_findings',
    kind: 'X',
    summary: `Statements of an application as OpenVEX, CSAF 2.0 or CycloneDX, of its first ${findingsMax} findings`,
    query: Type.Object(
      {
        application_id: Type.String({ maxLength: 20 }),
        format: Type.Optional(OneOf(vexFormats, 'openvex where it is absent')),
      },
      { additionalProperties: false },
    ),
    handle: async ({ sql, reach, query, host, now, reply }) => {
      const { format = 'openvex' } = query;
      const { id, name } = await requireApplication(sql, reach, query.application_id);
      const statements = await readStatements(sql, { id, name });
      reply.header('content-disposition', `attachment; filename="application-${id}.${format}.json"`);
      const named = (await host.csafNamespace?.()) ?? '';
      // a name of RFC 6761 that nobody can own: the document is valid, and says that no namespace was named
      const namespace = named === '' ? 'https://gatehouse.invalid' : named;
      return toDocument(format, statements, {
        application: { id, name },
        publisher: await brandNameOf(host),
        namespace,
        now,
      });
    },
  }),
];
