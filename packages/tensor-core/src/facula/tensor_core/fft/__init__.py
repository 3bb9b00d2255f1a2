"""Fourier transforms: those of facula.fft (transforms), stft and istft (short_time), and the rows that NumPy computes (host)."""
