// Whether the sensor looks at anything: the switch of the process, of the control plane and of trouble.

export const sensorState = {
  isOn: false,
  /** Mistakes of the sensor itself; after too many it looks at nothing any more. */
  troubles: 0,
  isBroken: false,
};

const troublesMax = 20;
let tellTrouble: (error: unknown) => void = () => undefined;

export function onTrouble(tell: (error: unknown) => void): void {
  tellTrouble = tell;
}

/** Runs a part of the sensor: whatever goes wrong in it, the application does not see it. */
export function guarded(work: () => void): void {
  try {
    work();
  } catch (error) {
    sensorState.troubles++;
    if (sensorState.troubles >= troublesMax) {
      sensorState.isBroken = true;
      sensorState.isOn = false;
    }
    try {
      tellTrouble(error);
    } catch {
      // what tells of trouble may be the trouble; there is nobody left to tell
      sensorState.isBroken = true;
      sensorState.isOn = false;
    }
  }
}
