// What the installation is called and how it looks: as saved in the control plane, else as the environment of this
// server says. Asked at most every few seconds; while the control plane is away the last answer holds.
import type { Branding, Logo } from './branding.js';

export interface BrandSource {
  current(): Promise<Branding>;
  /** null: the built-in one. */
  logo(): Promise<Logo | null>;
}

const freshMs = 3000;
const waitMs = 1500;
const logoBytesMax = 256 * 1024;

interface Saved {
  readonly name: string;
  readonly sub: string | null;
  readonly tagline: string | null;
  readonly accent: string | null;
  readonly set: readonly string[];
}

/** null: the control plane did not answer. */
async function ask(url: string): Promise<Response | null> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(waitMs), redirect: 'error' });
    return answer.ok ? answer : null;
  } catch {
    return null;
  }
}

/** Says that there is one: `/brand/logo` asks for its bytes. */
const savedLogo: Logo = { bytes: Buffer.alloc(0), type: 'image/png' };

export function createBrandSource(apiUrl: string, usual: Branding): BrandSource {
  let known: { readonly at: number; readonly brand: Promise<Branding> } | null = null;
  let last: Branding = usual;
  let hasOwnLogo = false;
  const read = async (): Promise<Branding> => {
    const answer = await ask(`${apiUrl}/api/v1/branding`);
    const saved = answer === null ? null : ((await answer.json().catch(() => null)) as Saved | null);
    if (saved === null || !Array.isArray(saved.set)) return last;
    hasOwnLogo = saved.set.includes('logo');
    last = {
      brand: saved.set.includes('name') ? saved.name : usual.brand,
      brandSub: saved.sub ?? usual.brandSub,
      tagline: saved.tagline ?? usual.tagline,
      accent: saved.accent ?? usual.accent ?? null,
      logo: hasOwnLogo ? savedLogo : (usual.logo ?? null),
    };
    return last;
  };
  const current = (): Promise<Branding> => {
    const now = Date.now();
    if (known === null || now - known.at > freshMs) known = { at: now, brand: read() };
    return known.brand;
  };
  return {
    current,
    async logo() {
      await current();
      if (!hasOwnLogo) return usual.logo ?? null;
      const answer = await ask(`${apiUrl}/api/v1/branding/logo`);
      if (answer === null) return usual.logo ?? null;
      const bytes = Buffer.from(await answer.arrayBuffer());
      const type = answer.headers.get('content-type') ?? '';
      return bytes.length <= logoBytesMax && /^image\/(?:png|svg\+xml)$/.test(type)
        ? { bytes, type }
        : (usual.logo ?? null);
    },
  };
}
