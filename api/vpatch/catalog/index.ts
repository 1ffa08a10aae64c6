// The catalogue of virtual patches: ours, for published vulnerabilities. Sorted by id; ids are never reused.
import { dataStorePatches } from './apache/data-stores.js';
import { gatewayPatches } from './apache/gateways.js';
import { httpServerPatches } from './apache/http-server.js';
import { solrAndOfbizPatches } from './apache/solr-and-ofbiz.js';
import { ciscoPatches } from './appliances/cisco.js';
import { citrixPatches } from './appliances/citrix.js';
import { consumerDevicePatches } from './appliances/consumer-devices.js';
import { f5Patches } from './appliances/f5.js';
import { firewallPatches } from './appliances/firewalls.js';
import { fortinetPatches } from './appliances/fortinet.js';
import { ivantiPatches } from './appliances/ivanti.js';
import { vmwarePatches } from './appliances/vmware.js';
import { atlassianPatches } from './atlassian.js';
import { businessSuitePatches } from './enterprise/business-suites.js';
import { collaborationPatches } from './enterprise/collaboration.js';
import { dashboardPatches } from './enterprise/dashboards.js';
import { developmentPatches } from './enterprise/development.js';
import { fileTransferPatches } from './enterprise/file-transfer.js';
import { microsoftPatches } from './enterprise/microsoft.js';
import { remoteAdministrationPatches } from './enterprise/remote-administration.js';
import { webRuntimePatches } from './enterprise/web-runtimes.js';
import { applicationServerPatches } from './java/application-servers.js';
import { javaLibraryPatches } from './java/libraries.js';
import { springPatches } from './java/spring.js';
import { strutsPatches } from './java/struts.js';
import { phpAdministrationPatches } from './php/administration.js';
import { contentManagementPatches } from './php/content-management.js';
import { phpFrameworkPatches } from './php/frameworks.js';
import { phpLanguagePatches } from './php/language.js';
import { shopAndForumPatches } from './php/shops-and-forums.js';
import { wordpressAccountPatches } from './php/wordpress-accounts.js';
import { wordpressPluginPatches } from './php/wordpress-plugins.js';
import { wordpressPatches } from './php/wordpress.js';
import type { CatalogPatch } from './entry.js';

export type { CatalogPatch, CatalogTest, PatchSeverity } from './entry.js';

export const patchCatalog: readonly CatalogPatch[] = [
  ...javaLibraryPatches,
  ...springPatches,
  ...strutsPatches,
  ...applicationServerPatches,
  ...atlassianPatches,
  ...httpServerPatches,
  ...solrAndOfbizPatches,
  ...dataStorePatches,
  ...gatewayPatches,
  ...phpLanguagePatches,
  ...phpFrameworkPatches,
  ...contentManagementPatches,
  ...shopAndForumPatches,
  ...phpAdministrationPatches,
  ...wordpressPatches,
  ...wordpressPluginPatches,
  ...wordpressAccountPatches,
  ...citrixPatches,
  ...f5Patches,
  ...ivantiPatches,
  ...firewallPatches,
  ...fortinetPatches,
  ...ciscoPatches,
  ...consumerDevicePatches,
  ...vmwarePatches,
  ...microsoftPatches,
  ...fileTransferPatches,
  ...remoteAdministrationPatches,
  ...developmentPatches,
  ...dashboardPatches,
  ...collaborationPatches,
  ...webRuntimePatches,
  ...businessSuitePatches,
].sort((left, right) => left.id - right.id);

const byId = new Map(patchCatalog.map((patch) => [patch.id, patch]));

/**
 * The rule of an entry of the settings, which carries both id and CVE, under the patch's id; null when there is no such
 * pair.
 */
export type FindVirtualPatch = (cve: string, id: number) => { readonly name: string; readonly text: string } | null;

/** Looks in the catalogue, and in `delivered`: patches of the managed feed, under ids of their own. */
export function findPatchIn(delivered: readonly CatalogPatch[]): FindVirtualPatch {
  return (cve, id) => {
    const patch = byId.get(id) ?? delivered.find((one) => one.id === id);
    return patch === undefined || patch.cve !== cve
      ? null
      : { name: `${patch.cve} ${patch.title}`, text: patch.seclang };
  };
}
