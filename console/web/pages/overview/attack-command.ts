// The command that somebody sends as a first attack: to the port that protects, and to a site that is there.
import { overviewText as text } from '../../texts/overview.js';

const attack = "/search?q=1'%20OR%20'1'='1";

export interface AttackedSite {
  /** null: any. */
  readonly host: string | null;
  readonly prefix: string;
  readonly protected: boolean;
}

/** What a shell would read within double quotes, which cmd.exe knows as well as sh. */
const inUrl = (path: string): string =>
  path.replace(/["$`\\!%\s]/g, (one) => (one === '!' ? '%21' : encodeURIComponent(one)));

/** A host that the site answers for, without what a shell would read; one of the settings has none of that. */
const inField = (host: string): string => host.replaceAll('*', 'www').replace(/[^A-Za-z0-9.:[\]_-]/g, '');

/**
 * An SQL injection as a curl command. `hostname`: where the console is reached, since the nodes of a small installation
 * are on the same machine; an IPv6 address in brackets. `port`: WAF_PORT. Without a protected site: the bundled demo.
 */
export function attackCommand(hostname: string, port: number, sites: readonly AttackedSite[]): string {
  const site = sites.find((one) => one.protected);
  const prefix = inUrl((site?.prefix ?? '/').replace(/\/+$/, ''));
  const url = ['http://', hostname, ':', port, prefix, attack].join('');
  return site?.host == null ? text.curlTo(url) : text.curlToHost(url, inField(site.host));
}
