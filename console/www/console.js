/* Comfort only: everything works without it. */
(function () {
	"use strict";
	var boxes = Array.prototype.slice.call(document.querySelectorAll('td.tick input'));
	var all = document.getElementById("all");
	var last = null;

	if (all) {
		all.hidden = false;
		all.addEventListener("change", function () {
			boxes.forEach(function (box) { box.checked = all.checked; });
		});
	}

	/* Shift and a click tick everything between this box and the one before. */
	boxes.forEach(function (box, place) {
		box.addEventListener("click", function (event) {
			if (event.shiftKey && last !== null) {
				var from = Math.min(last, place), to = Math.max(last, place);
				for (var i = from; i <= to; i++)
					boxes[i].checked = box.checked;
			}
			last = place;
		});
	});

	function isTyping(element) {
		return element && /^(input|select|textarea)$/i.test(element.tagName);
	}

	/* "/" leads to the first field of the filter. */
	document.addEventListener("keydown", function (event) {
		if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target))
			return;
		var field = document.querySelector("form.filters input:not([type=hidden]), form.filters select");
		if (field) {
			event.preventDefault();
			field.focus();
		}
	});

	/* Refresh pauses while a box is ticked or a field has the focus; it lasts for this tab. */
	var select = document.getElementById("refresh");
	if (!select)
		return;
	var key = "lapse-refresh";
	select.parentNode.hidden = false;
	try {
		select.value = sessionStorage.getItem(key) || select.options[0].value;
	} catch (error) { /* no storage: no memory */ }
	if (document.querySelector("form.act"))
		return;
	var waited = 0;
	select.addEventListener("change", function () {
		waited = 0;
		try { sessionStorage.setItem(key, select.value); } catch (error) { /* as above */ }
	});
	setInterval(function () {
		var seconds = parseInt(select.value, 10);
		if (!seconds)
			return;
		if (boxes.some(function (box) { return box.checked; }) ||
				(isTyping(document.activeElement) && document.activeElement !== select))
			return;
		if (++waited >= seconds)
			location.reload();
	}, 1000);
}());
