import { localUrl, type Values } from '#settings/environment';

/** Where another process on this machine reaches what listens on ADMIN_BIND. */
export const controlUrl = ({ ADMIN_BIND, API_PORT }: Values): string => localUrl(ADMIN_BIND, API_PORT);

/** Where a browser on this machine finds the console. */
export const consoleUrl = ({ ADMIN_BIND, UI_PORT }: Values): string => localUrl(ADMIN_BIND, UI_PORT);
