// GET /backups/{id}/download: a sealed backup leaves the server through a browser.
import { ApiError } from '#http-kit';
import { endpoint } from '../kit/endpoint.js';
import { portOf, requireStored, told } from './stored.js';

/** Each is copied to a disk of this server on its way out. */
const downloadsMax = 2;
let downloads = 0;

export const download = endpoint({
  method: 'GET',
  path: '/backups/:id/download',
  permission: 'restore_backups',
  ofOrganisation: 'Backups',
  inPerson: true,
  kind: 'X',
  summary:
    'A backup as a file, as it lies at its place: only one that is sealed whole, for a person who may restore it. ' +
    'Every download is in the audit log',
  mediaType: 'application/octet-stream',
  handle: async (call) => {
    const port = portOf(call.host);
    const { name, bytes } = await requireStored(port, call.params['id'] ?? '');
    // what lies in a browser's folder is read by whoever reads that folder
    if (!name.endsWith('.age'))
      throw new ApiError(
        'conflict',
        `${name} is not sealed, so it does not leave the server this way. Set backup_encrypt and make another one.`,
      );
    if (downloads >= downloadsMax)
      throw new ApiError('busy', `${downloadsMax} backups are on their way out already; try again when one has ended.`);
    downloads++;
    try {
      await call.audited(
        'vm.download',
        `downloaded the backup ${name}`,
        async () => undefined,
        () => ({ name, bytes }),
      );
      const content = await told(port.fetch(name));
      content.once('close', () => downloads--);
      call.reply.header('content-disposition', `attachment; filename="${name}"`).header('content-length', bytes);
      return content;
    } catch (error) {
      downloads--;
      throw error;
    }
  },
});
