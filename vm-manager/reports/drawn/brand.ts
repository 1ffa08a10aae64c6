// The brand of the installation as reports show it.
import { readBrand } from '../../branding/current.js';
import { drawableLogo } from '../../branding/drawable.js';
import type { Host } from '../../host.js';
import { usualAccent } from '../render.js';
import type { ReportBrand } from '../report.js';

/** What was stored before pixels were checked is checked here; what cannot be drawn is left out. */
export async function reportBrandOf({ sql, brandName }: Pick<Host, 'sql' | 'brandName'>): Promise<ReportBrand> {
  const { name, tagline, accent } = await readBrand(sql);
  const [row] = await sql<{ report_logo: Buffer | null }[]>`select report_logo from vm_branding`;
  const logo = row?.report_logo == null ? null : await drawableLogo(Buffer.from(row.report_logo));
  return { name: name ?? brandName, tagline, accent: accent ?? usualAccent, logo };
}
