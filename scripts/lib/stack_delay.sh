# shellcheck shell=bash
# Part of scripts/stack: who offers the exchange type x-delayed-message.
delay_application() { :; }
delay_prepare() { :; }
