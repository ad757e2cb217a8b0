import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TEXTS } from '../texts/texts.ts';

/** What the panel changes of an element. */
function blankElement() {
  const tab = { hidden: true, textContent: '', title: '', classList: { toggle() {} } };
  return { hidden: true, dataset: {} as Record<string, string>, classList: { toggle() {} }, firstElementChild: tab };
}

const elements = new Map<string, ReturnType<typeof blankElement>>();
const texts = { textContent: JSON.stringify({ texts: TEXTS.en, problems: {} }) };

function elementOf(id: string): ReturnType<typeof blankElement> {
  const element = elements.get(id) ?? blankElement();
  elements.set(id, element);
  return element;
}

Object.assign(globalThis, {
  document: {
    documentElement: { lang: 'en' },
    getElementById: (id: string) => (id === 'texts' ? texts : elementOf(id)),
    querySelector: elementOf,
  },
});
const { showNeighbours } = await import('./panel.ts');

describe('the panel', () => {
  const [left, right] = ['left', 'right'].map((edge) => elementOf(`.edge[data-edge="${edge}"]`));
  const own = { desktop: '1-1', name: 'Ann' };
  const bob = { desktop: '2-1', name: 'Bob' };

  it('says that nobody else is here only if this desktop is beyond every edge', () => {
    assert.equal(showNeighbours({ left: own, right: own, top: own, bottom: own }, '1-1'), 'nobody');
    for (const neighbours of [{}, { left: own, right: own, top: own }, { left: bob }]) {
      assert.equal(showNeighbours(neighbours, '1-1'), 'people');
    }
  });

  it('says that residents are the only company only if there is nobody else', () => {
    const moss = { desktop: '3-1', name: 'Moss (resident)' };
    assert.equal(showNeighbours({ left: moss, right: moss, top: own, bottom: own }, '1-1'), 'residents');
    assert.equal(showNeighbours({ left: moss, right: bob, top: own, bottom: own }, '1-1'), 'people');
  });

  it('shows nothing at an edge whose neighbour is not known yet', () => {
    showNeighbours({ left: bob, right: bob, top: own, bottom: own }, '1-1');
    assert.equal(right.firstElementChild.textContent, 'Bob');
    showNeighbours({ left: bob, top: own, bottom: own }, '1-1');
    assert.equal(left.firstElementChild.textContent, 'Bob');
    assert.ok(right.firstElementChild.hidden);
    assert.equal(right.firstElementChild.textContent, '');
    assert.equal(right.dataset.neighbour, '');
  });
});
