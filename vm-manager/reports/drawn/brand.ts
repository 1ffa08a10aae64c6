// The brand of the installation as reports show it.
import { readBrand } from '../../branding/current.js';
import type { Host } from '../../host.js';
import { usualAccent } from '../render.js';
import type { ReportBrand } from '../report.js';
import { drawableLogo } from './logo.js';

/** A logo in SVG, or a PNG that is too large to draw, is left out. */
export async function reportBrandOf({ sql, brandName }: Pick<Host, 'sql' | 'brandName'>): Promise<ReportBrand> {
  const { name, tagline, accent, logo_type: type } = await readBrand(sql);
  const [row] = type === 'image/png' ? await sql<{ logo: Buffer | null }[]>`select logo from vm_branding` : [];
  const logo = row?.logo == null ? null : await drawableLogo(Buffer.from(row.logo));
  return { name: name ?? brandName, tagline, accent: accent ?? usualAccent, logo };
}
