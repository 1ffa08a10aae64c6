// Where the vulnerability manager fetches EPSS, KEV and advisories from: what the settings name, by the guarded client.
import type { IntelSources } from '#vm-manager';
import { ApiError } from '../http-kit/index.js';
import type { Parts } from '../parts.js';

const hourMs = 3_600_000;
const timeoutMs = 120_000;

/** The sources of the present settings; made for each question, so that a change of the settings counts. */
export const createIntelSources =
  ({ outbound, currentSettings }: Pick<Parts, 'outbound' | 'currentSettings'>) =>
  async (): Promise<IntelSources> => {
    const settings = await currentSettings();
    const { vm_epss_url: epss, vm_kev_url: kev, vm_osv_url: osv, vm_intel_hours: hours } = settings;
    return {
      urls: { epss, kev, osv },
      everyMs: hours * hourMs,
      async download(url, bytesMax) {
        const { protocol, host } = new URL(url);
        // what is known of a vulnerability decides what people fix first: nobody on the way may write it
        if (protocol !== 'https:' && !(await outbound.isAllowListed(url)))
          throw new ApiError('outbound_refused', `${host} must be reached by https, or be named in OUTBOUND_ALLOW.`);
        const reply = await outbound.send(url, { bytesMax, timeoutMs });
        if (reply.status !== 200) throw new ApiError('outbound_failed', `${host} answered ${reply.status}.`);
        return reply.body;
      },
    };
  };
