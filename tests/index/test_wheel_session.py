"""The budget of bytes: never exceeded, first come first served, whole again when waiting is given up."""

from __future__ import annotations

import asyncio

from compatlock.index.wheel_session import Budget


def test_a_budget_is_never_exceeded_and_serves_in_order() -> None:
    held: list[int] = []
    order: list[int] = []
    most = 0

    async def use(number: int, amount: int, budget: Budget) -> None:
        nonlocal most
        got = await budget.take(amount)
        order.append(number)
        held.append(got)
        most = max(most, sum(held))
        await asyncio.sleep(0)
        held.remove(got)
        budget.give(got)

    async def run() -> None:
        budget = Budget(100)
        # The large one in the middle must not starve because small ones would still fit.
        await asyncio.gather(*(use(n, 1000 if n == 3 else 40, budget) for n in range(20)))

    asyncio.run(run())
    assert order == list(range(20))
    assert most == 100


def test_who_gives_up_waiting_leaves_the_budget_whole() -> None:
    async def run() -> int:
        budget = Budget(100)
        first = await budget.take(80)
        waiting = [asyncio.ensure_future(budget.take(50)) for _ in range(3)]
        await asyncio.sleep(0)
        waiting[0].cancel()
        budget.give(first)
        # Served already, and cancelled before it knows.
        waiting[1].cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        budget.give(waiting[2].result())
        return await asyncio.wait_for(budget.take(100), 1)

    assert asyncio.run(run()) == 100
