// A weather vane: every ten minutes a sprite flies off with the wind, as fast as it blows.
//
//     node weather_vane.mjs http://localhost:8080 [ADDRESS OF A FORECAST]
import { join } from 'sprites-client';

const BERLIN = 'latitude=52.52&longitude=13.41&current=wind_speed_10m,wind_direction_10m';
const [relay = 'http://localhost:8080', forecast = `https://api.open-meteo.com/v1/forecast?${BERLIN}`] =
  process.argv.slice(2);
const PX_PER_KM = 40; // a breeze of 20 km/h throws as a hand does
const EVERY_MS = 600_000;

const desktop = await join(relay, { name: 'Weather vane' });
const [flyer] = await desktop.gallery();

for (;;) {
  await blow().catch((error) => console.error(`No wind: ${error.cause?.message ?? error.message}`));
  await new Promise((resolve) => setTimeout(resolve, EVERY_MS));
}

async function blow() {
  const { current } = await (await fetch(forecast)).json();
  const { wind_speed_10m: kmh, wind_direction_10m: from } = current; // 0° is north, 90° is east
  const to = (from + 180) % 360;
  const edge = ['top', 'right', 'bottom', 'left'][Math.round(to / 90) % 4];
  const radians = (to * Math.PI) / 180;
  const speed = kmh * PX_PER_KM;
  const verdict = await desktop.throw(flyer, edge, { vx: speed * Math.sin(radians), vy: -speed * Math.cos(radians) });
  const where = verdict.refused ? `stays: ${verdict.refused.title}` : `flew to ${verdict.to?.name ?? 'somebody'}`;
  console.log(`${kmh} km/h from ${from}°: ${flyer.name} ${where}`);
}
