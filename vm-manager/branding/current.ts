// The brand of the installation: what was saved, else what its environment says. What shows a name asks here.
import type { Queryable } from '../database.js';
import type { Host } from '../host.js';

export interface BrandRow {
  readonly name: string | null;
  readonly sub: string | null;
  readonly tagline: string | null;
  readonly accent: string | null;
  readonly logo_type: string | null;
  readonly logo_sha256: string | null;
  /** Documents have a picture of it. */
  readonly in_reports: boolean;
  readonly version: number;
}

export const emptyBrand: BrandRow = {
  ...{ name: null, sub: null, tagline: null, accent: null, logo_type: null, logo_sha256: null, in_reports: false },
  version: 0,
};

export async function readBrand(sql: Queryable): Promise<BrandRow> {
  const [row] = await sql<BrandRow[]>`
    select name, sub, tagline, accent, logo_type, logo_sha256, report_logo is not null as in_reports, version
    from vm_branding`;
  return row ?? emptyBrand;
}

/** The name that people see. `usual`: of the environment. */
export const brandNameIn = async (sql: Queryable, usual: string): Promise<string> =>
  (await readBrand(sql)).name ?? usual;

export const brandNameOf = ({ sql, brandName }: Pick<Host, 'sql' | 'brandName'>): Promise<string> =>
  brandNameIn(sql, brandName);
