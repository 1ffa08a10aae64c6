// Statements as documents: OpenVEX 0.2.0, CSAF 2.0 (profile VEX) and CycloneDX 1.6. The same statements give the same
// bytes, but for the moment in the head.
import { createHash } from 'node:crypto';
import { actionOf, type Product, type Statement, type VexStatus } from './statements.js';

export const vexFormats = ['openvex', 'csaf', 'cyclonedx'] as const;
export type VexFormat = (typeof vexFormats)[number];

export interface Head {
  readonly application: { readonly id: number; readonly name: string };
  readonly publisher: string;
  /** Of the publisher, as an address. */
  readonly namespace: string;
  readonly now: Date;
}

/** By what `keyOf` says, in the order of the first of each. */
function groupBy(all: readonly Statement[], keyOf: (one: Statement) => string): [string, Statement[]][] {
  const groups = new Map<string, Statement[]>();
  for (const one of all) {
    const group = groups.get(keyOf(one));
    if (group === undefined) groups.set(keyOf(one), [one]);
    else group.push(one);
  }
  return [...groups];
}

const nameOf = ({ vulnerability, findingId }: Statement): string => vulnerability ?? `gatehouse-finding-${findingId}`;
/** The same for the same statements. */
const digestOf = (statements: readonly Statement[]): string =>
  createHash('sha256').update(JSON.stringify(statements)).digest('hex');

function openVex(statements: readonly Statement[], { application, publisher, now }: Head): object {
  return {
    '@context': 'https://openvex.dev/ns/v0.2.0',
    '@id': `urn:gatehouse:vex:${application.id}:${digestOf(statements).slice(0, 32)}`,
    author: publisher,
    timestamp: now.toISOString(),
    version: 1,
    statements: statements.map((one) => ({
      vulnerability: {
        name: nameOf(one),
        ...(one.aliases.length === 0 ? {} : { aliases: one.aliases }),
        description: one.title,
      },
      products: [
        {
          '@id': `urn:gatehouse:application:${application.id}`,
          ...(one.product.purl === null ? {} : { subcomponents: [{ '@id': one.product.purl }] }),
        },
      ],
      status: one.status,
      ...(one.status === 'affected' ? { action_statement: actionOf(one) } : {}),
      ...notAffected(one),
      timestamp: one.at.toISOString(),
    })),
  };
}

/** OpenVEX wants a justification or a statement of impact where something is not affected. */
function notAffected({ status, justification, reason }: Statement): object {
  if (status !== 'not_affected') return {};
  return {
    ...(justification === null ? {} : { justification }),
    ...(justification === null || reason !== ''
      ? { impact_statement: reason || 'It was looked at and set aside.' }
      : {}),
  };
}

const csafStatus: Readonly<Record<VexStatus, string>> = {
  affected: 'known_affected',
  not_affected: 'known_not_affected',
  fixed: 'fixed',
  under_investigation: 'under_investigation',
};

function remediationOf(one: Statement): object | null {
  if (one.status !== 'affected') return null;
  const category =
    one.workaround !== null
      ? 'workaround'
      : one.isAccepted || one.fix.state === 'wont_fix'
        ? 'no_fix_planned'
        : one.fix.text !== ''
          ? 'vendor_fix'
          : 'none_available';
  return { category, details: actionOf(one), product_ids: [one.product.id], date: one.at.toISOString() };
}

function csafVulnerability(name: string, group: readonly Statement[]): object {
  const [first] = group as readonly [Statement, ...Statement[]];
  const byStatus = groupBy(group, ({ status }) => csafStatus[status]);
  const refuted = group.filter(({ status }) => status === 'not_affected');
  const flags = refuted.flatMap(({ justification, product }) =>
    justification === null ? [] : [{ label: justification, product_ids: [product.id] }],
  );
  const threats = refuted.flatMap(({ justification, product, reason }) =>
    justification === null || reason !== ''
      ? [{ category: 'impact', details: reason || 'It was looked at and set aside.', product_ids: [product.id] }]
      : [],
  );
  const remediations = group.map(remediationOf).filter((one) => one !== null);
  return {
    ...(/^CVE-\d{4}-\d{4,}$/.test(name)
      ? { cve: name }
      : {
          ids: [
            first.vulnerability === null
              ? { system_name: 'Finding', text: first.findingId }
              : { system_name: name.split('-', 1)[0] ?? 'other', text: name },
          ],
        }),
    title: first.title,
    notes: [{ category: 'description', text: first.title }],
    product_status: Object.fromEntries(byStatus.map(([status, ones]) => [status, ones.map((one) => one.product.id)])),
    ...(flags.length === 0 ? {} : { flags }),
    ...(threats.length === 0 ? {} : { threats }),
    ...(remediations.length === 0 ? {} : { remediations }),
  };
}

const productsOf = (statements: readonly Statement[]): Product[] => [
  ...new Map(statements.map(({ product }) => [product.id, product])).values(),
];

function csaf(statements: readonly Statement[], { application, publisher, namespace, now }: Head): object {
  const at = now.toISOString();
  return {
    document: {
      category: 'csaf_vex',
      csaf_version: '2.0',
      title: `Vulnerabilities of ${application.name}`,
      publisher: { category: 'user', name: publisher, namespace },
      tracking: {
        id: `gatehouse-application-${application.id}`,
        status: 'final',
        version: '1',
        initial_release_date: at,
        current_release_date: at,
        revision_history: [{ date: at, number: '1', summary: 'Made from the findings as they are.' }],
      },
    },
    product_tree: {
      full_product_names: productsOf(statements).map(({ id, name, purl }) => ({
        product_id: id,
        name,
        ...(purl === null ? {} : { product_identification_helper: { purl } }),
      })),
    },
    vulnerabilities: groupBy(statements, nameOf).map(([name, group]) => csafVulnerability(name, group)),
  };
}

const cycloneJustification: Readonly<Record<string, string>> = {
  component_not_present: 'code_not_present',
  vulnerable_code_not_present: 'code_not_present',
  vulnerable_code_not_in_execute_path: 'code_not_reachable',
  vulnerable_code_cannot_be_controlled_by_adversary: 'requires_environment',
  inline_mitigations_already_exist: 'protected_by_mitigating_control',
};
const cycloneStates: Readonly<Record<VexStatus, string>> = {
  affected: 'exploitable',
  not_affected: 'not_affected',
  fixed: 'resolved',
  under_investigation: 'in_triage',
};

function cycloneAnalysis(one: Statement): object {
  const { workaround, justification, status, fix, isAccepted } = one;
  const response = [
    ...(workaround === null ? [] : ['workaround_available']),
    ...(status === 'affected' && fix.state === 'fixed_available' ? ['update'] : []),
    ...(isAccepted || fix.state === 'wont_fix' ? ['will_not_fix'] : []),
  ];
  const why = workaround === null ? cycloneJustification[justification ?? ''] : 'protected_at_perimeter';
  return {
    state: cycloneStates[status],
    ...(why === undefined ? {} : { justification: why }),
    ...(status === 'affected' && response.length > 0 ? { response } : {}),
    ...(status === 'affected' ? { detail: actionOf(one) } : one.reason === '' ? {} : { detail: one.reason }),
  };
}

function cycloneDx(statements: readonly Statement[], { application, publisher, now }: Head): object {
  const root = `gatehouse-application-${application.id}`;
  const digest = digestOf(statements);
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber:
      `urn:uuid:${digest.slice(0, 8)}-${digest.slice(8, 12)}-5${digest.slice(13, 16)}-a${digest.slice(17, 20)}-` +
      digest.slice(20, 32),
    version: 1,
    metadata: {
      timestamp: now.toISOString(),
      tools: { components: [{ type: 'application', name: publisher }] },
      component: { type: 'application', 'bom-ref': root, name: application.name },
    },
    components: productsOf(statements)
      .filter(({ id }) => id !== root)
      .map(({ id, name, purl }) => ({ type: 'library', 'bom-ref': id, name, ...(purl === null ? {} : { purl }) })),
    vulnerabilities: statements.map((one) => ({
      id: nameOf(one),
      description: one.title,
      ratings: [{ severity: one.severity, ...ratingOf(one) }],
      analysis: cycloneAnalysis(one),
      affects: [{ ref: one.product.id }],
    })),
  };
}

const methods: Readonly<Record<string, string>> = {
  '4.0': 'CVSSv4',
  '3.1': 'CVSSv31',
  '3.0': 'CVSSv3',
  '2.0': 'CVSSv2',
};

function ratingOf({ cvss }: Statement): object {
  if (cvss === null) return {};
  const { version, vector, score } = cvss;
  return { score, method: methods[version] ?? 'other', ...(vector === null ? {} : { vector }) };
}

const writers = { openvex: openVex, csaf, cyclonedx: cycloneDx } as const;

export const toDocument = (format: VexFormat, statements: readonly Statement[], head: Head): object =>
  writers[format](statements, head);
