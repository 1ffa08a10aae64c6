// White label: APP_BRAND, APP_BRAND_SUB, APP_TAGLINE and APP_LOGO, which the console's server writes into the page.
const textOf = (name: string): string =>
  document.querySelector<HTMLMetaElement>(`meta[name="app:${name}"]`)?.content ?? '';

export const brand = textOf('brand');
export const brandSub = textOf('brand-sub');
export const tagline = textOf('tagline');
/** Address of the logo; empty: the built-in mark. */
export const logo = textOf('logo');
