// White-label texts; APP_BRAND, APP_BRAND_SUB and APP_TAGLINE when the console is bundled.
declare const __APP_BRAND__: string;
declare const __APP_BRAND_SUB__: string;
declare const __APP_TAGLINE__: string;

export const brand = __APP_BRAND__;
export const brandSub = __APP_BRAND_SUB__;
export const tagline = __APP_TAGLINE__;
