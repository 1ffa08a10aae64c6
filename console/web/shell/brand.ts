// White-label texts: APP_BRAND, APP_BRAND_SUB and APP_TAGLINE, which the console's server writes into the page.
const textOf = (name: string): string =>
  document.querySelector<HTMLMetaElement>(`meta[name="app:${name}"]`)?.content ?? '';

export const brand = textOf('brand');
export const brandSub = textOf('brand-sub');
export const tagline = textOf('tagline');
