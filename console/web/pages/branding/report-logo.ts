// A logo of SVG, or a large one, as the PNG that documents draw. The browser draws it: as an image nothing of it runs
// and nothing is fetched.
const sideMax = 512;

const asDataUrl = (file: Blob): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(typeof reader.result === 'string' ? reader.result : '');
    reader.onerror = () => reject(new Error('unreadable'));
    reader.readAsDataURL(file);
  });

/** A drawing without a size of its own is as wide as may be. */
function fitted({ naturalWidth: width, naturalHeight: height }: HTMLImageElement, isSvg: boolean): [number, number] {
  const [wide, high] = width > 0 && height > 0 ? [width, height] : [sideMax, sideMax / 2];
  const scale = Math.min(sideMax / wide, sideMax / high, isSvg ? Number.POSITIVE_INFINITY : 1);
  return [Math.max(1, Math.round(wide * scale)), Math.max(1, Math.round(high * scale))];
}

/** null: the browser cannot draw it. */
export async function toReportLogo(file: File): Promise<File | null> {
  const isSvg = file.name.toLowerCase().endsWith('.svg') || file.type === 'image/svg+xml';
  const picture = new Image();
  picture.src = await asDataUrl(isSvg ? new Blob([file], { type: 'image/svg+xml' }) : file);
  try {
    await picture.decode();
  } catch {
    return null;
  }
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = fitted(picture, isSvg);
  const context = canvas.getContext('2d');
  if (context === null) return null;
  context.drawImage(picture, 0, 0, canvas.width, canvas.height);
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/png'));
  return blob === null ? null : new File([blob], 'report-logo.png', { type: 'image/png' });
}
